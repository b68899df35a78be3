import { parseArgs } from "node:util";
import { buildAssets } from "./assets.ts";
import { type Stack, startStack } from "./stack.ts";
import { stateDirOf } from "./state-dir.ts";

const STOP_WITHIN_MS = 2_500;
const LOOK_FOR_PARENT_EACH_MS = 500;

function readFlags() {
  const { values } = parseArgs({
    options: {
      json: { type: "boolean", default: false },
      port: { type: "string", default: "8787" },
      state: { type: "string" },
      fresh: { type: "boolean", default: false },
    },
  });
  const { json, fresh, state } = values;
  const port = Number(values.port);
  if (!/^\d+$/.test(values.port) || port > 65_535) {
    throw new Error(`--port ${values.port}: a number from 0 (any free port) to 65535 is wanted`);
  }
  return { json, fresh, port, stateDir: stateDirOf(state) };
}

async function main() {
  const flags = readFlags();
  // With --json the one line is all that standard output carries.
  const say = (text: string) => (flags.json ? console.error(text) : console.log(text));
  buildAssets();
  if (!flags.json) say("Starting: database, stand-ins, service …");
  const stack = await startStack({ ...flags, env: process.env, log: say });
  stopWhenAsked(stack);
  const { baseUrl, wsUrl, worldUrl, seeds } = stack;
  if (flags.json) {
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
  Stop:      Ctrl+C; the data stays in ${flags.stateDir}
`);
}

function stopWhenAsked(stack: Stack): void {
  let stopping = false;
  const stop = (code: number) => {
    if (stopping) return;
    stopping = true;
    // What hangs is ended by its watchdog, once we are gone.
    setTimeout(() => process.exit(code), STOP_WITHIN_MS);
    stack.stop().then(
      () => process.exit(code),
      () => process.exit(1),
    );
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop(0));
  void stack.broken.then(() => {
    if (!stopping) console.error("The Worker ended by itself");
    stop(1);
  });
  // npm that is killed passes nothing on, and nobody would know that we still run.
  const parent = process.ppid;
  if (process.env["npm_lifecycle_event"] !== undefined) {
    setInterval(() => {
      if (process.ppid !== parent) stop(0);
    }, LOOK_FOR_PARENT_EACH_MS).unref();
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
