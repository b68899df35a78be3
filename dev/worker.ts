import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { watchOver } from "./watchdog.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 1_500;

export type Worker = { port: number; stop(): Promise<void>; exited: Promise<void> };

/**
 * The production Worker under `wrangler dev`, on a port of its own behind the front. Its processes
 * form a group, which ends with us whatever ends us: two Workers on one state would corrupt it.
 */
export async function startWorker(options: {
  stateDir: string;
  variables: Record<string, string>;
  log(line: string): void;
}): Promise<Worker> {
  const { stateDir } = options;
  const envFile = path.join(stateDir, "worker.env");
  writeFileSync(envFile, dotenv(options.variables), { mode: 0o600 });
  const [port, inspectorPort] = await freePorts(2);
  const child = spawn(process.execPath, argumentsFor(stateDir, envFile, port, inspectorPort), {
    cwd: root,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...environmentFor(stateDir) },
  });
  const callOff = watchOver(-(child.pid ?? 0), { signal: "KILL" });
  const output = tail(child, options.log);
  const exited = once(child, "exit")
    .then(() => endGroup(child))
    .then(callOff);
  await Promise.race([
    untilHealthy(port),
    exited.then(() => {
      throw new Error(`The Worker did not start:\n${output()}`);
    }),
  ]);
  return { port, exited, stop: () => stop(child, exited) };
}

function environmentFor(stateDir: string): Record<string, string> {
  return {
    CI: "true",
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_SEND_ERROR_REPORTS: "false",
    WRANGLER_HIDE_BANNER: "true",
    // Else in the home folder, which may not be ours to write.
    WRANGLER_REGISTRY_PATH: path.join(stateDir, "worker", "registry"),
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    X_LOCAL_OBSERVABILITY: "false",
  };
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
  if (!isOut) endGroup(child);
  await exited;
}

function endGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  } catch {
    // Nobody is left in the group.
  }
}

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

/** Quoted by whichever mark the value lacks; a `$` would be taken for a reference. */
function dotenv(variables: Record<string, string>): string {
  return Object.entries(variables)
    .map(([name, value]) => {
      const quote = ["'", '"', "`"].find((mark) => !value.includes(mark));
      if (quote === undefined) throw new Error(`${name} has all three kinds of quotation marks`);
      return `${name}=${quote}${value.replaceAll("$", "\\$")}${quote}\n`;
    })
    .join("");
}
