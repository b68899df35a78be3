import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { drizzle } from "drizzle-orm/node-postgres";
import { migrate as applyMigrations } from "drizzle-orm/node-postgres/migrator";
import pg from "pg";

const migrationsOfProject = fileURLToPath(new URL("../migrations", import.meta.url));

/**
 * Makes `database` and its owner, the role `app`, where missing, and applies `migrations` as that
 * role. Returns the address to connect with through the local Neon, which knows the port.
 */
export async function migrate(
  adminUrl: string,
  database: string,
  migrations = migrationsOfProject,
): Promise<string> {
  if (!existsSync(path.join(migrations, "meta", "_journal.json"))) {
    throw new Error(`${migrations} holds no migrations: generate them with "npm run migration"`);
  }
  await connected(adminUrl, async (admin) => {
    // Two callers at once must neither both create nor both migrate. The connection's end unlocks.
    await admin.query("select pg_advisory_lock(hashtext('migrate'))");
    await createIfMissing(admin, database);
    const owner = new URL(adminUrl);
    Object.assign(owner, { username: "app", password: "app", pathname: `/${database}` });
    await connected(owner.href, (client) =>
      applyMigrations(drizzle(client), { migrationsFolder: migrations }),
    );
  });
  return `postgresql://app:app@localhost/${database}`;
}

async function createIfMissing(admin: pg.Client, database: string): Promise<void> {
  const role = await admin.query("select from pg_roles where rolname = 'app'");
  if (role.rowCount === 0) {
    // As the owner on Neon: it makes roles, but row-level security holds for what it grants.
    await admin.query(
      "create role app login password 'app' createrole nosuperuser nobypassrls nocreatedb",
    );
  }
  const found = await admin.query("select from pg_database where datname = $1", [database]);
  if (found.rowCount === 0) {
    await admin.query(`create database ${pg.escapeIdentifier(database)} owner app`);
  }
}

async function connected(
  url: string,
  work: (client: pg.Client) => Promise<unknown>,
): Promise<void> {
  const client = new pg.Client(url);
  // A lost connection also fails the query under way; unheard, "error" would end this process.
  client.on("error", () => {});
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
