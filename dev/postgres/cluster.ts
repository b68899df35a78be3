import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chown, mkdir, mkdtemp, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { type Account, canReach, reachableTmpDir, serverEnv } from "./account.ts";
import { stopLeftover } from "./shutdown.ts";

export type Cluster = {
  /** Holds `data` and the superuser's password. Neither path goes through a link. */
  home: string;
  data: string;
  password: string;
  /** The process id in a killed server's lock, which any other process may have by now. */
  stalePid: number | undefined;
};

/** A throw-away cluster never shares a folder with one whose data must survive. */
const names = { durable: "postgres", scratch: "postgres-scratch" } as const;
export type ClusterKind = keyof typeof names;

const tmpPrefix = "voice-agent-postgres-";

/** The cluster of `stateDir`, with no server running on it. A scratch cluster is always a new one. */
export async function openCluster(
  stateDir: string,
  kind: ClusterKind,
  bin: string,
  account: Account,
): Promise<Cluster> {
  await mkdir(stateDir, { recursive: true });
  if (kind === "scratch") await removeCluster(stateDir, kind);
  const found =
    (await findHome(stateDir, kind, account)) ?? (await makeHome(stateDir, kind, account));
  const home = await realpath(found);
  const data = path.join(home, "data");
  const stalePid = await stopLeftover(data);
  if (!existsSync(data)) await initialize(home, kind, bin, account);
  return { home, data, password: await readFile(passwordFile(home), "utf8"), stalePid };
}

/** Stops what still runs on a cluster of `stateDir` and deletes it. */
export async function removeCluster(stateDir: string, kind: ClusterKind): Promise<void> {
  for (const home of [await pointedHome(stateDir, kind), path.join(stateDir, names[kind])]) {
    if (home === undefined || !existsSync(home)) continue;
    await stopLeftover(path.join(await realpath(home), "data"));
    await rm(home, { recursive: true, force: true });
  }
  await rm(pointerFile(stateDir, kind), { force: true });
}

async function findHome(
  stateDir: string,
  kind: ClusterKind,
  account: Account,
): Promise<string | undefined> {
  const pointed = account.uid === undefined ? undefined : await pointedHome(stateDir, kind);
  if (pointed !== undefined && existsSync(pointed)) return pointed;
  const inside = path.join(stateDir, names[kind]);
  if (!existsSync(inside)) return undefined;
  if (await canReach(account, stateDir)) return inside;
  // Starting an empty cluster elsewhere would look as if the data were lost.
  throw new Error(
    `the database in ${inside} lies below a folder closed to the account "nobody", as which PostgreSQL runs for root; open that folder, run as the folder's owner, or delete the database`,
  );
}

/** Below a folder closed to `account` the cluster cannot lie: a file there says where it is. */
async function makeHome(stateDir: string, kind: ClusterKind, account: Account): Promise<string> {
  if (await canReach(account, stateDir)) {
    const home = path.join(stateDir, names[kind]);
    await mkdir(home, { mode: 0o700 });
    return home;
  }
  const home = await mkdtemp(path.join(await reachableTmpDir(account), tmpPrefix));
  await writeFile(pointerFile(stateDir, kind), home);
  return home;
}

async function pointedHome(stateDir: string, kind: ClusterKind): Promise<string | undefined> {
  const home = await readFile(pointerFile(stateDir, kind), "utf8").catch(() => "");
  // What it names is deleted as root, so a damaged or forged file must not name anything else.
  return path.basename(home).startsWith(tmpPrefix) ? home : undefined;
}

function pointerFile(stateDir: string, kind: ClusterKind): string {
  return path.join(stateDir, `${names[kind]}.location`);
}

function passwordFile(home: string): string {
  return path.join(home, "password");
}

async function initialize(
  home: string,
  kind: ClusterKind,
  bin: string,
  account: Account,
): Promise<void> {
  const password = passwordFile(home);
  // Any local account can reach the port, and a superuser runs programs.
  await writeFile(password, randomBytes(18).toString("base64url"), { mode: 0o600 });
  if (account.uid !== undefined && account.gid !== undefined) {
    await chown(home, account.uid, account.gid);
    await chown(password, account.uid, account.gid);
  }
  // An interrupted initdb leaves a folder that looks whole, so only a finished one gets the name.
  const unfinished = path.join(home, "unfinished");
  await rm(unfinished, { recursive: true, force: true });
  const options = [
    ...["-D", unfinished, "-U", "postgres", "--auth=password", `--pwfile=${password}`],
    ...["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"],
    ...(kind === "scratch" ? ["--no-sync"] : []),
  ];
  try {
    const initdb = promisify(execFile);
    // Not our working directory: `account` may be unable to read it, and initdb then gives up.
    await initdb(path.join(bin, "initdb"), options, { ...account, cwd: home, env: serverEnv() });
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    throw new Error(`initdb failed: ${stderr?.trim() || message}`);
  }
  await rename(unfinished, path.join(home, "data"));
}
