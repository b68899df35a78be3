import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { removeCluster } from "../../../dev/postgres.ts";
import type { Seeds } from "../../../dev/seed.ts";
import { watchOver } from "../../../dev/watchdog.ts";

export const projectRoot = fileURLToPath(new URL("../../..", import.meta.url));

/** The line that `npm start -- --json` prints when everything answers. */
export type Ready = Seeds & { ready: true; baseUrl: string; wsUrl: string; worldUrl: string };

export type StackProcess = {
  ready: Ready;
  stateDir: string;
  pid: number;
  /** SIGTERM, as Ctrl-C or a supervisor would. Resolves once it has ended. */
  stop(): Promise<Ended>;
  /** kill -9 of the whole process group. */
  kill(): Promise<Ended>;
  /** Resolves when it ended, by whomever. */
  ended: Promise<Ended>;
};

export type Ended = { code: number | null; signal: NodeJS.Signals | null; output: string };

export type StackProcessOptions = {
  /** Added to this process's own environment. */
  env?: Record<string, string>;
  /** Flags for `npm start`; without `--port` any free port is taken. */
  args?: string[];
  /** Kept for the next start. Without it the stack has one of its own, deleted with it. */
  stateDir?: string;
  cwd?: string;
};

/** `npm start -- --json` as a process of its own. Rejects with its output when it does not start. */
export async function startStackProcess(options: StackProcessOptions = {}): Promise<StackProcess> {
  const own = options.stateDir === undefined ? temporaryState() : undefined;
  const stateDir = options.stateDir ?? own?.stateDir ?? "";
  const { child, ended } = launch({ ...options, stateDir });
  const first = await Promise.race([firstLine(child), ended]);
  if (typeof first !== "string") {
    await own?.remove();
    throw new Error(`The stack did not start (${first.code ?? first.signal}):\n${first.output}`);
  }
  const pid = child.pid ?? 0;
  const end = async (signal: NodeJS.Signals, target: number) => {
    if (child.exitCode === null && child.signalCode === null) process.kill(target, signal);
    const result = await ended;
    await own?.remove();
    return result;
  };
  return {
    ready: JSON.parse(first) as Ready,
    stateDir,
    pid,
    stop: () => end("SIGTERM", pid),
    kill: () => end("SIGKILL", -pid),
    ended,
  };
}

/** A start that is expected to fail. Resolves with its exit code and what it said. */
export function startAndFail(options: StackProcessOptions & { stateDir: string }): Promise<Ended> {
  return launch(options).ended;
}

/** A new state folder. `remove` also ends and deletes what lies outside of it for root. */
export function temporaryState(): { stateDir: string; remove(): Promise<void> } {
  const stateDir = mkdtempSync(path.join(tmpdir(), "stack-test-"));
  return {
    stateDir,
    async remove() {
      await removeCluster(stateDir);
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

function launch(options: StackProcessOptions & { stateDir: string }) {
  const { env = {}, args = [], stateDir, cwd = projectRoot } = options;
  const port = args.includes("--port") ? [] : ["--port", "0"];
  const script = path.join(projectRoot, "dev", "start.ts");
  // Not what vitest sets for its own workers.
  const { NODE_ENV: _, VITEST: __, ...inherited } = process.env;
  const child = spawn(
    process.execPath,
    [script, "--json", "--state", stateDir, ...port, ...args],
    // A group of its own, which can be killed as a whole.
    { cwd, detached: true, env: { ...inherited, ...env }, stdio: ["ignore", "pipe", "pipe"] },
  );
  const callOff = watchOver(child.pid ?? 0, { signal: "TERM" });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  // "close", not "exit": the last lines arrive after the exit.
  const ended = once(child, "close").then(([code, signal]): Ended => {
    callOff();
    return { code, signal, output };
  });
  return { child, ended };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    child.stdout?.on("data", (chunk: string) => {
      text += chunk;
      const end = text.indexOf("\n");
      if (end >= 0) resolve(text.slice(0, end));
    });
  });
}
