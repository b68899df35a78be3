import { stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** Spreads into `spawn` options. Empty: the server runs as whoever runs us. */
export type Account = { uid?: number; gid?: number };

const nobody = 65534;

/** PostgreSQL refuses to run as root, so root hands it to `nobody`. */
export function serverAccount(): Account {
  return process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
}

/** Whether `account` may pass through every folder above `file`, and through `file` if it is one. */
export async function canReach(account: Account, file: string): Promise<boolean> {
  if (account.uid === undefined) return true;
  for (let at = path.resolve(file); ; at = path.dirname(at)) {
    const { mode, uid } = await stat(at);
    const execute = uid === account.uid ? 0o100 : 0o001;
    if ((mode & execute) === 0) return false;
    if (at === path.dirname(at)) return true;
  }
}

/** A temporary folder `account` can reach: TMPDIR may itself lie below a private folder. */
export async function reachableTmpDir(account: Account): Promise<string> {
  for (const folder of [tmpdir(), "/tmp", "/var/tmp"]) {
    if (await canReach(account, folder).catch(() => false)) return folder;
  }
  throw new Error(
    `PostgreSQL cannot run as root, and no temporary folder (${tmpdir()}, /tmp, /var/tmp) is open to other accounts`,
  );
}

/** The server needs none of our secrets, and PG* variables would change what it does. */
export function serverEnv(): Record<string, string> {
  const { PATH = "/usr/bin:/bin" } = process.env;
  return { PATH, LC_ALL: "C" };
}
