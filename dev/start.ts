import { parseArgs } from "node:util";
import { buildAssets } from "./assets.ts";
import { startStack } from "./stack.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    port: { type: "string", default: "8787" },
    state: { type: "string", default: ".state" },
    fresh: { type: "boolean", default: false },
  },
});

const say = (text: string) => (values.json ? undefined : console.log(text));

async function main() {
  buildAssets();
  say("Starting: database, stand-ins, service …");
  const stack = await startStack({
    port: Number(values.port),
    stateDir: values.state,
    fresh: values.fresh,
    env: process.env,
    log: (line) => (values.json ? console.error(line) : console.log(line)),
  });
  let stopping = false;
  const stop = (code: number) => {
    if (stopping) return;
    stopping = true;
    stack.stop().then(
      () => process.exit(code),
      () => process.exit(1),
    );
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop(0));
  void stack.broken.then(() => stop(1));
  const { baseUrl, wsUrl, worldUrl, seeds } = stack;
  if (values.json) {
    console.log(JSON.stringify({ ready: true, baseUrl, wsUrl, worldUrl, ...seeds }));
    return;
  }
  say(`
  Service    ${baseUrl}     reference: ${baseUrl}/docs
  World      ${worldUrl}    what the stand-ins received, faults, the webhook inbox
  API key    ${seeds.apiKey}

  Try it:    export API_KEY=${seeds.apiKey}
             curl -s ${baseUrl}/v1/agents -H "X-API-Key: $API_KEY"
  Or:        npm run demo      (in another terminal)
  Stop:      Ctrl+C; the data stays in ${values.state}
`);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
