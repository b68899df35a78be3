import { buildAssets } from "../assets.ts";
import { startStack } from "../stack.ts";
import { readStackFile } from "../stack-file.ts";

// biome-ignore lint/suspicious/noExplicitAny: the demo prints what comes, as a script would
type Json = any;

export type Demo = {
  apiKey: string;
  worldUrl: string;
  /** A request to the service, with whatever it answers. */
  ask(
    key: string,
    method: string,
    path: string,
    json?: object,
  ): Promise<{ status: number; body: Json }>;
  /** The same, for a good answer's body; rejects with the service's own words when it is refused. */
  api(key: string, method: string, path: string, json?: object): Promise<Json>;
  close(): Promise<void>;
};

/** The stack that runs on this state, or one of the demo's own until it is done. */
export async function openDemo(stateDir: string): Promise<Demo> {
  const running = await findRunning(stateDir);
  if (running) {
    console.log(`Using the stack at ${running.baseUrl}`);
    return { ...running, ...clientOf(running.baseUrl), close: () => Promise.resolve() };
  }
  console.log("Starting the stack …");
  buildAssets();
  const stack = await startStack({
    port: 0,
    stateDir,
    fresh: false,
    env: process.env,
    log: () => undefined,
  });
  return {
    apiKey: stack.seeds.apiKey,
    worldUrl: stack.worldUrl,
    ...clientOf(stack.baseUrl),
    close: () => stack.stop(),
  };
}

async function findRunning(stateDir: string) {
  const file = readStackFile(stateDir);
  if (!file) return null;
  const baseUrl = file.variables["PUBLIC_URL"] ?? "";
  const worldUrl = file.variables["WEBHOOK_DEV_ORIGINS"] ?? "";
  try {
    const answer = await fetch(`${baseUrl}/healthz`);
    return answer.ok ? { baseUrl, worldUrl, apiKey: file.seeds.apiKey } : null;
  } catch {
    return null;
  }
}

function clientOf(baseUrl: string): Pick<Demo, "ask" | "api"> {
  const ask: Demo["ask"] = async (key, method, path, json) => {
    const answer = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { "X-API-Key": key, ...(json && { "Content-Type": "application/json" }) },
      ...(json && { body: JSON.stringify(json) }),
    });
    return { status: answer.status, body: (await answer.json()) as Json };
  };
  return {
    ask,
    async api(key, method, path, json) {
      const { status, body } = await ask(key, method, path, json);
      if (status >= 300) throw new Error(`${method} ${path}: ${status} ${body.message}`);
      return body;
    },
  };
}
