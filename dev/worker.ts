import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 1_500;

export type Worker = { port: number; stop(): Promise<void>; exited: Promise<void> };

/** The production Worker under `wrangler dev`, on a port of its own behind the front. */
export async function startWorker(options: {
  stateDir: string;
  variables: Record<string, string>;
  log(line: string): void;
}): Promise<Worker> {
  const { stateDir } = options;
  await endOrphan(stateDir);
  const envFile = path.join(stateDir, "worker.env");
  mkdirSync(stateDir, { recursive: true });
  writeFileSync(envFile, dotenv(options.variables), { mode: 0o600 });
  const [port, inspectorPort] = await freePorts(2);
  const child = spawn(process.execPath, argumentsFor(stateDir, envFile, port, inspectorPort), {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      CI: "true",
      WRANGLER_SEND_METRICS: "false",
      WRANGLER_SEND_ERROR_REPORTS: "false",
      WRANGLER_HIDE_BANNER: "true",
      CLOUDFLARE_CF_FETCH_ENABLED: "false",
      X_LOCAL_OBSERVABILITY: "false",
    },
  });
  writeFileSync(pidFile(stateDir), String(child.pid));
  const output = tail(child, options.log);
  const exited = once(child, "exit").then(() => undefined);
  await Promise.race([
    untilHealthy(port),
    exited.then(() => {
      throw new Error(`The Worker did not start:\n${output()}`);
    }),
  ]);
  return { port, exited, stop: () => stop(child, exited) };
}

function argumentsFor(stateDir: string, envFile: string, port: number, inspectorPort: number) {
  return [
    path.join(root, "node_modules", "wrangler", "bin", "wrangler.js"),
    "dev",
    "--ip=127.0.0.1",
    `--port=${port}`,
    `--inspector-port=${inspectorPort}`,
    `--persist-to=${path.join(stateDir, "worker")}`,
    `--env-file=${envFile}`,
    "--show-interactive-dev-session=false",
    "--log-level=warn",
  ];
}

async function stop(child: ChildProcess, exited: Promise<void>): Promise<void> {
  child.kill("SIGINT");
  const isOut = await Promise.race([exited.then(() => true), delay(STOP_WITHIN_MS, false)]);
  if (!isOut) child.kill("SIGKILL");
  await exited;
}

/** A parent that was killed leaves its Worker behind, and two on one state would corrupt it. */
async function endOrphan(stateDir: string): Promise<void> {
  try {
    const pid = Number(readFileSync(pidFile(stateDir), "utf8"));
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    if (!command.includes("wrangler") || !command.includes(stateDir)) return;
    process.kill(pid, "SIGINT");
    await delay(STOP_WITHIN_MS);
    process.kill(pid, "SIGKILL");
  } catch {
    // No such file, no such process: there is nobody to end.
  }
}

const pidFile = (stateDir: string) => path.join(stateDir, "worker.pid");

function tail(child: ChildProcess, log: (line: string) => void): () => string {
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      for (const line of text.split("\n").filter(Boolean)) {
        lines.push(line);
        if (lines.length > 50) lines.shift();
        log(line);
      }
    });
  }
  return () => lines.join("\n");
}

async function untilHealthy(port: number): Promise<void> {
  const until = Date.now() + READY_WITHIN_MS;
  for (;;) {
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/healthz`);
      await answer.body?.cancel();
      return;
    } catch (error) {
      if (Date.now() > until) throw new Error("The Worker does not answer", { cause: error });
      await delay(50);
    }
  }
}

/** Held open together, so that they differ; wrangler takes them a moment later. */
async function freePorts(count: 2): Promise<[number, number]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === "object" && address ? address.port : 0;
  });
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports as [number, number];
}

function dotenv(variables: Record<string, string>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}='${value}'\n`)
    .join("");
}
