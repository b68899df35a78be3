import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { type Account, serverAccount, serverEnv } from "./postgres/account.ts";
import { postgresBinaries } from "./postgres/binaries.ts";
import { type Cluster, openCluster, removeCluster as removeKind } from "./postgres/cluster.ts";
import { stopServer } from "./postgres/shutdown.ts";
import { watchOver } from "./watchdog.ts";

/** `adminUrl` names the superuser, with its password. */
export type Postgres = { port: number; adminUrl: string; stop(): Promise<void> };

export type PostgresOptions = {
  /** Where the database lives. One server at a time: a start stops the one before. */
  stateDir: string;
  /** True: data survives restarts and kill -9. False: an empty, faster server, deleted by `stop`. */
  durable: boolean;
  /** Default: a free one. */
  port?: number;
};

const readyWithinMs = 60_000;
const retry = { everyMs: 250, times: 40 };

/** A real PostgreSQL on 127.0.0.1. Rejects with the server's own last lines when it does not start. */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const account = serverAccount();
  const kind = options.durable ? "durable" : "scratch";
  const bin = await postgresBinaries(account);
  const cluster = await openCluster(options.stateDir, kind, bin, account);
  const { server, port } = await launchPatiently(bin, cluster, account, options);
  return {
    port,
    adminUrl: `postgresql://postgres:${cluster.password}@127.0.0.1:${port}/postgres`,
    async stop() {
      await end(server);
      if (!options.durable) await removeKind(options.stateDir, "scratch");
    },
  };
}

/** Stops what still runs in `stateDir` and deletes its databases. */
export async function removeCluster(stateDir: string): Promise<void> {
  await removeKind(stateDir, "durable");
  await removeKind(stateDir, "scratch");
}

/** Two failures pass by themselves: a port taken meanwhile, and sessions of a killed server. */
async function launchPatiently(
  bin: string,
  cluster: Cluster,
  account: Account,
  options: PostgresOptions,
): Promise<{ server: ChildProcess; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePort());
    try {
      const settings = serverSettings(port, options.durable);
      return { server: await launch(bin, cluster, account, settings), port };
    } catch (error) {
      const text = String(error);
      const passes =
        text.includes("pre-existing shared memory block") ||
        (options.port === undefined && text.includes("Address already in use"));
      if (!passes || attempt === retry.times) throw error;
      await delay(retry.everyMs);
    }
  }
}

function serverSettings(port: number, durable: boolean): Record<string, string | number> {
  return {
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: "",
    max_connections: 200,
    timezone: "UTC",
    // Failed statements stay out of the log (they carry data); why the server stops stays in.
    log_min_messages: "log",
    log_checkpoints: "off",
    log_line_prefix: "",
    ...(durable
      ? {}
      : { fsync: "off", synchronous_commit: "off", full_page_writes: "off", autovacuum: "off" }),
  };
}

async function launch(
  bin: string,
  cluster: Cluster,
  account: Account,
  settings: Record<string, string | number>,
): Promise<ChildProcess> {
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(path.join(bin, "postgres"), ["-D", cluster.data, ...flags], {
    ...account,
    cwd: cluster.home,
    env: { ...serverEnv(), ...ignoringLockOf(cluster.stalePid) },
    // Its own group: Ctrl-C in a terminal reaches us, and we stop it after what uses it.
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  if (server.pid !== undefined) {
    server.once("exit", watchOver(server.pid, { ...account, signal: "QUIT" }));
  }
  const lastLines: string[] = [];
  const lines = createInterface({ input: server.stderr });
  lines.on("line", (line) => {
    lastLines.push(line);
    if (lastLines.length > 20) lastLines.shift();
  });
  const failure = (what: string) => new Error([`PostgreSQL ${what}`, ...lastLines].join("\n"));
  try {
    await new Promise<void>((ready, fail) => {
      lines.on("line", (line) => {
        if (line.includes("ready to accept connections")) ready();
      });
      server.once("error", (error) => fail(failure(`cannot be run: ${error.message}`)));
      // "close", not "exit": the last lines arrive after the exit.
      server.once("close", (code, signal) => fail(failure(`ended with ${code ?? signal}`)));
      setTimeout(() => fail(failure("is not ready")), readyWithinMs).unref();
    });
  } catch (error) {
    await end(server);
    throw error;
  }
  return server;
}

/**
 * A lock whose process id is alive again (a zombie, or after a reboot any process of ours) keeps the
 * server from starting. It ignores its own grandparent's, and still refuses while sessions live.
 */
function ignoringLockOf(stalePid: number | undefined): Record<string, string> {
  return stalePid === undefined ? {} : { PG_GRANDPARENT_PID: String(stalePid) };
}

async function end(server: ChildProcess): Promise<void> {
  const { pid } = server;
  if (pid === undefined) return;
  await stopServer(pid, () => server.exitCode !== null || server.signalCode !== null);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}
