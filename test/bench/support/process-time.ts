import { readdirSync, readFileSync } from "node:fs";

/** Both in ms since the process began. */
export type ProcessTime = {
  cpuMs: number;
  /** Ready to run while others held every core. */
  waitedMs: number;
};

/** What the kernel counted for the threads of a process; null where there is no `/proc`. */
export function processTime(pid: number): ProcessTime | null {
  try {
    const threads = readdirSync(`/proc/${pid}/task`).map((thread) => threadTime(pid, thread));
    return {
      cpuMs: threads.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
      waitedMs: threads.reduce((sum, { waitedMs }) => sum + waitedMs, 0),
    };
  } catch {
    return null;
  }
}

function threadTime(pid: number, thread: string): ProcessTime {
  const [cpu, waited] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ");
  return { cpuMs: Number(cpu) / 1e6, waitedMs: Number(waited) / 1e6 };
}
