import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.resolve(fileURLToPath(new URL("..", import.meta.url)));

/**
 * Where a stack keeps its state: `.state` in the project, or what `--state` says. A relative folder
 * is the caller's: npm changes to the project's root, and tells in INIT_CWD where it was called.
 */
export function stateDirOf(flag: string | undefined): string {
  if (flag === undefined) return path.join(root, ".state");
  const cwd = process.cwd();
  return path.resolve(cwd === root ? (process.env["INIT_CWD"] ?? cwd) : cwd, flag);
}
