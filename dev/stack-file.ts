import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Seeds } from "./seed.ts";

/** What the next start on the same state, and the operator's commands, must know. */
export type StackFile = {
  baseUrl: string;
  worldPort: number;
  variables: Record<string, string>;
  seeds: Seeds;
};

/** Null when no stack was ever ready on this state. */
export function readStackFile(stateDir: string): StackFile | null {
  const file = stackFile(stateDir);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as StackFile) : null;
}

/** Readable by its owner only: it holds secrets. */
export function writeStackFile(stateDir: string, content: StackFile): void {
  writeFileSync(stackFile(stateDir), JSON.stringify(content, null, 2), { mode: 0o600 });
}

const stackFile = (stateDir: string) => path.join(stateDir, "stack.json");
