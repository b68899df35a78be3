import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { buildAssets } from "../../dev/assets.ts";
import { openLocalWorld, variablesOf } from "../../dev/local-world.ts";
import { newSecrets } from "../../dev/secrets.ts";
import { type Measured, printReport } from "./support/api-report.ts";
import type { Lane, Outcome, Round } from "./support/load.ts";
import { processTime } from "./support/process-time.ts";
import { seedTenants, type Tenant } from "./support/seed.ts";
import { type Server, serveWorker } from "./support/workerd.ts";

/** 60 a minute for each key, 300 for each organization: together more than a run can ask. */
const TENANTS = { organizations: 300, keysEach: 4 };
/** Many and short: a neighbour's burst then spoils few of them, and the median forgets it. */
const ROUNDS = 15;
const LOADED = { concurrency: 16, seconds: 1, count: Number.POSITIVE_INFINITY };
const ONE_BY_ONE = { concurrency: 1, seconds: 2, count: 40 };
/** Every key once: its object is filled and the code is compiled before anything counts. */
const WARM_UP = { concurrency: 16, seconds: 30, count: TENANTS.organizations * TENANTS.keysEach };

export async function run(): Promise<void> {
  const directory = mkdtempSync(path.join(tmpdir(), "service-bench-"));
  const cleanUp: (() => unknown)[] = [
    () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }),
  ];
  const stop = async () => {
    for (const step of cleanUp.splice(0).reverse()) await step();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => void stop().finally(() => process.exit(1)));
  }
  try {
    buildAssets();
    const secrets = newSecrets();
    const world = await openLocalWorld({ stateDir: directory, durable: false, secrets });
    cleanUp.push(() => world.close());
    const variables = variablesOf(world, secrets, "http://service.test");
    const tenants = await seedTenants(variables, TENANTS);
    const serve = async (name: string, configPath: string) => {
      const server = await serveWorker({
        configPath,
        directory: path.join(directory, name),
        variables,
      });
      cleanUp.push(() => server.stop());
      return server;
    };
    const bare = await serve("bare", "test/bench/baseline/wrangler.toml");
    const api = await serve("api", "wrangler.toml");
    const lanes = lanesOf(tenants, bare, api);
    const load = new Worker(new URL("./support/load.ts", import.meta.url), {
      workerData: lanes satisfies Lane[],
    });
    cleanUp.push(() => load.terminate());
    printReport(await measure(load, lanes));
  } finally {
    await stop();
  }
}

type NamedLane = Lane & { name: string; pid: number };

/** The first is what the others are compared with. */
function lanesOf(tenants: Tenant[], bare: Server, api: Server): NamedLane[] {
  // One key of each organization after the other, so that neighbours in time meet different objects.
  const callers = Array.from({ length: TENANTS.keysEach }, (_, index) =>
    tenants.map(({ organizationId, callId, keys }) => ({
      organizationId,
      callId,
      headers: { "x-api-key": keys[index] ?? "", "cf-connecting-ip": "203.0.113.7" },
    })),
  ).flat();
  const lane = (
    name: string,
    server: Server,
    pathOf: (caller: (typeof callers)[number]) => string,
  ): NamedLane => ({
    name,
    port: server.port,
    pid: server.pid,
    requests: callers.map((caller) => ({ path: pathOf(caller), headers: caller.headers })),
  });
  return [
    lane("bare route, drizzle", bare, (c) => `/drizzle/${c.organizationId}/${c.callId}`),
    lane("bare route, driver only", bare, (c) => `/driver/${c.organizationId}/${c.callId}`),
    lane("GET /v1/calls/{id}", api, (c) => `/v1/calls/${c.callId}`),
    lane("GET /v1/agents", api, () => "/v1/agents"),
  ];
}

/** All lanes in turn, round after round: what disturbs one of them disturbs its neighbours too. */
async function measure(load: Worker, lanes: NamedLane[]): Promise<Measured[]> {
  const measured = lanes.map(({ name }): Measured => ({ name, rounds: [], latencies: [] }));
  for (const index of lanes.keys()) await ask(load, { lane: index, ...WARM_UP });
  for (let round = 0; round < ROUNDS; round++) {
    // Back and forth, so that nobody always comes first.
    const order = [...lanes.entries()];
    for (const [index, { pid }] of round % 2 === 0 ? order : order.reverse()) {
      const before = processTime(pid);
      const loaded = await ask(load, { lane: index, ...LOADED });
      const after = processTime(pid);
      const single = await ask(load, { lane: index, ...ONE_BY_ONE });
      measured[index]?.rounds.push({
        ...loaded,
        cpuMs: before && after ? after.cpuMs - before.cpuMs : null,
        waitedMs: before && after ? after.waitedMs - before.waitedMs : null,
      });
      measured[index]?.latencies.push(...single.latencies);
    }
  }
  return measured;
}

async function ask(load: Worker, round: Round): Promise<Outcome> {
  load.postMessage(round);
  const [outcome] = (await once(load, "message")) as [Outcome];
  return outcome;
}
