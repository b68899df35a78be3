import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

const patienceMs = { fast: 10_000, immediate: 5_000 };

/** Fast shutdown; immediate shutdown if sessions hold that up. `isGone` must not throw. */
export async function stopServer(
  pid: number,
  isGone: () => boolean | Promise<boolean>,
): Promise<void> {
  for (const [signal, patience] of [
    ["SIGINT", patienceMs.fast],
    ["SIGQUIT", patienceMs.immediate],
  ] as const) {
    if (await isGone()) return;
    sendSignal(pid, signal);
    const deadline = Date.now() + patience;
    while (Date.now() < deadline) {
      if (await isGone()) return;
      await delay(15);
    }
  }
  throw new Error(`PostgreSQL (process ${pid}) does not stop`);
}

/**
 * Stops the server that an earlier process left running on the folder `data`, if there is one.
 * Returns the process id that the folder's lock still names, which is then no server's.
 */
export async function stopLeftover(data: string): Promise<number | undefined> {
  const pid = await lockedBy(data);
  if (pid === undefined) return undefined;
  // After a reboot the number may belong to any other process.
  await stopServer(pid, async () => !(await isServerOf(pid, data)));
  return lockedBy(data);
}

async function lockedBy(data: string): Promise<number | undefined> {
  const lock = await readFile(path.join(data, "postmaster.pid"), "utf8").catch(() => "");
  const pid = Number.parseInt(lock, 10);
  return pid > 1 ? pid : undefined;
}

async function isServerOf(pid: number, data: string): Promise<boolean> {
  if (process.platform === "linux") {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    const [program, ...options] = commandLine.split("\0");
    return path.basename(program ?? "") === "postgres" && options.includes(data);
  }
  const ps = promisify(execFile);
  const listed = await ps("ps", ["-ww", "-o", "command=", "-p", String(pid)]).catch(
    () => undefined,
  );
  return (
    /\bpostgres\b/.test(listed?.stdout ?? "") && (listed?.stdout ?? "").includes(` -D ${data} `)
  );
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const ended = error instanceof Error && "code" in error && error.code === "ESRCH";
    if (!ended) throw error;
  }
}
