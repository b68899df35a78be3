import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseEnv } from "node:util";
import { Client } from "@upstash/qstash";
import { variableNames } from "../src/env.ts";
import { startFront } from "./front.ts";
import { type LocalWorld, openLocalWorld, variablesOf } from "./local-world.ts";
import { removeCluster } from "./postgres.ts";
import { type Secrets, secretsOf } from "./secrets.ts";
import { type Seeds, seed } from "./seed.ts";
import { readStackFile, writeStackFile } from "./stack-file.ts";
import { lock } from "./state-lock.ts";
import { startWorker } from "./worker.ts";

export type Stack = {
  baseUrl: string;
  wsUrl: string;
  worldUrl: string;
  seeds: Seeds;
  /** Resolves when a part of the stack ended by itself. */
  broken: Promise<void>;
  stop(): Promise<void>;
};

export type StackOptions = {
  /** 0 for any free one. */
  port: number;
  stateDir: string;
  /** Forgets everything first. */
  fresh: boolean;
  /** Variables that are to reach the Worker besides its defaults. */
  env: Record<string, string | undefined>;
  log(line: string): void;
};

/** The whole platform on loopback: world, Worker, front. The one that started last is stopped first. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const stateDir = path.resolve(options.stateDir);
  mkdirSync(stateDir, { recursive: true });
  const cleanUp: (() => void | Promise<void>)[] = [lock(stateDir)];
  const stop = async () => {
    for (const step of cleanUp.splice(0).reverse()) await step();
  };
  try {
    // The front takes its port first: a taken one is told before anything else is touched.
    const target = { host: "127.0.0.1", port: 0 };
    const front = await startFront({ port: options.port, target });
    cleanUp.push(() => front.close());
    if (options.fresh) await forget(stateDir);
    const before = readStackFile(stateDir);
    const secrets = secretsOf(stateDir);
    const world = await openWorld(stateDir, secrets, before?.worldPort);
    cleanUp.push(() => world.close());
    const baseUrl = `http://127.0.0.1:${front.port}`;
    const variables = {
      ...variablesOf(world, secrets, baseUrl),
      ...given(options.env),
    };
    const seeds = before?.seeds ?? (await seed(variables, world.url));
    writeStackFile(stateDir, { baseUrl, worldPort: world.port, variables, seeds });
    const worker = await startWorker({ stateDir, variables, log: options.log });
    cleanUp.push(() => worker.stop());
    target.port = worker.port;
    world.startQueue();
    await scheduleSweep(variables);
    return {
      baseUrl,
      wsUrl: baseUrl.replace("http", "ws"),
      worldUrl: world.url,
      seeds,
      broken: worker.exited,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function forget(stateDir: string): Promise<void> {
  await removeCluster(stateDir);
  for (const name of [
    "stack.json",
    "secrets.json",
    "queue.sqlite",
    "queue.sqlite-wal",
    "queue.sqlite-shm",
    "worker",
    "worker.env",
  ]) {
    rmSync(path.join(stateDir, name), { recursive: true, force: true });
  }
}

/** The port of the last time, if it is free: callback URLs in the state name it. */
async function openWorld(
  stateDir: string,
  secrets: Secrets,
  port: number | undefined,
): Promise<LocalWorld> {
  const common = { stateDir, durable: true, secrets };
  if (port === undefined) return openLocalWorld(common);
  try {
    return await openLocalWorld({ ...common, port });
  } catch (error) {
    if (!String(error).includes("is taken")) throw error;
    return openLocalWorld(common);
  }
}

/** `.dev.vars`, then the environment, and of both only what the Worker knows and what says something. */
function given(env: Record<string, string | undefined>): Record<string, string> {
  const file = fileURLToPath(new URL("../.dev.vars", import.meta.url));
  const all = { ...(existsSync(file) ? parseEnv(readFileSync(file, "utf8")) : {}), ...env };
  return Object.fromEntries(
    variableNames.flatMap((name) => (all[name] ? [[name, all[name]]] : [])),
  );
}

async function scheduleSweep(variables: Record<string, string>): Promise<void> {
  const client = new Client({
    baseUrl: variables["QSTASH_URL"] ?? "",
    token: variables["QSTASH_TOKEN"] ?? "",
    enableTelemetry: false,
  });
  await client.schedules.create({
    scheduleId: "sweep",
    destination: `${variables["PUBLIC_URL"]}/internal/q/sweep`,
    cron: variables["SWEEP_CRON"] ?? "* * * * *",
    retries: 0,
  });
}
