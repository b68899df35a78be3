import { buildAssets } from "../assets.ts";
import { readStackFile, startStack } from "../stack.ts";

export type Demo = {
  apiKey: string;
  worldUrl: string;
  /** A request to the service; rejects with the service's own words when it is refused. */
  // biome-ignore lint/suspicious/noExplicitAny: the demo prints what comes, as a script would
  api(key: string, method: string, path: string, json?: object): Promise<any>;
  close(): Promise<void>;
};

/** The stack that runs on this state, or one of the demo's own until it is done. */
export async function openDemo(stateDir: string): Promise<Demo> {
  const running = await findRunning(stateDir);
  if (running) {
    console.log(`Using the stack at ${running.baseUrl}`);
    return { ...running, api: apiOf(running.baseUrl), close: () => Promise.resolve() };
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
    api: apiOf(stack.baseUrl),
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

function apiOf(baseUrl: string): Demo["api"] {
  return async (key, method, path, json) => {
    const answer = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        "X-API-Key": key,
        ...(json && { "Content-Type": "application/json" }),
      },
      ...(json && { body: JSON.stringify(json) }),
    });
    const body = (await answer.json()) as { message: string };
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${body.message}`);
    return body;
  };
}
