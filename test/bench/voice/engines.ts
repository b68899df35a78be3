import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { buildAssets } from "../../../dev/assets.ts";
import { openLocalWorld, variablesOf } from "../../../dev/local-world.ts";
import { newSecrets } from "../../../dev/secrets.ts";
import { newCustomers } from "../support/customers.ts";
import { type Server, serveWorker } from "../support/workerd.ts";
import type { Dialect } from "./caller.ts";

/** One of the two that are compared, running. */
export type Engine = {
  name: string;
  pid: number;
  dialect: Dialect;
  /** Where the next call is to be joined. */
  newCall(): Promise<string>;
  stop(): Promise<void>;
};

/** Its keys may start 60 calls a minute each. */
const ORGANIZATIONS = 12;

/** The service as it is deployed, its vendors replaced by the stand-ins at `standIns`. */
export async function startOurs(directory: string, standIns: string): Promise<Engine> {
  buildAssets();
  const secrets = newSecrets();
  const world = await openLocalWorld({ stateDir: directory, durable: false, secrets });
  let server: Server | null = null;
  const stop = async () => {
    await server?.stop();
    await world.close();
  };
  try {
    const variables = {
      ...variablesOf(world, secrets, "http://service.test"),
      LLM_BASE_URL: `${standIns}/v1`,
      DEEPGRAM_BASE_URL: standIns,
      ELEVENLABS_BASE_URL: standIns,
      LIVE_WEB_CALLS: "1000",
    };
    server = await serveWorker({
      configPath: "wrangler.toml",
      directory: path.join(directory, "ours"),
      variables,
    });
    const customers = await newCustomers(
      variables,
      `http://127.0.0.1:${server.port}`,
      ORGANIZATIONS,
    );
    let calls = 0;
    return {
      name: "this service",
      pid: server.pid,
      dialect: "native",
      stop,
      async newCall() {
        const customer = customers[calls++ % customers.length];
        const json = { assistantId: customer?.agentId, type: "web" };
        const answer = await customer?.api("POST", "/v1/calls/initiate", json);
        if (answer?.status !== 200 && answer?.status !== 201) {
          throw new Error(`A call was refused: ${JSON.stringify(answer?.body)}`);
        }
        return answer.body.gateway.url;
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

export async function startTheirs(directory: string, standIns: string): Promise<Engine> {
  installPeer();
  const server = await serveWorker({
    configPath: "test/bench/voice/peer/wrangler.toml",
    directory: path.join(directory, "theirs"),
    variables: { STAND_INS: standIns },
  });
  return {
    name: "agents/voice",
    pid: server.pid,
    dialect: "peer",
    stop: () => server.stop(),
    newCall: async () => `ws://127.0.0.1:${server.port}/agents/peer/${randomUUID()}`,
  };
}

/** The other engine is no part of the project: it is installed when it is first compared with. */
function installPeer(): void {
  const folder = fileURLToPath(new URL("..", import.meta.url));
  const installed = path.join(folder, "node_modules/agents/package.json");
  const { dependencies } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  const wanted = dependencies.agents;
  if (existsSync(installed) && JSON.parse(readFileSync(installed, "utf8")).version === wanted) {
    return;
  }
  console.error(`Installing agents@${wanted} to compare with (once) …`);
  // Not `npm ci`: it refuses locks that leave out some platform's optional binary, as this one may.
  const install = ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status } = spawnSync("npm", install, {
    cwd: folder,
    stdio: ["ignore", 2, "inherit"],
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error("The packages of test/bench could not be installed");
}
