import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

/** One stack for each state folder; the lock of a process that is gone counts for nothing. */
export function lock(stateDir: string): () => void {
  const file = path.join(stateDir, "lock");
  const holder = holderOf(file);
  if (holder !== null && holder !== process.pid && isAlive(holder)) {
    throw new Error(`Another stack (process ${holder}) uses ${stateDir}; choose another --state`);
  }
  writeFileSync(file, String(process.pid));
  return () => rmSync(file, { force: true });
}

function holderOf(file: string): number | null {
  try {
    return Number(readFileSync(file, "utf8")) || null;
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
