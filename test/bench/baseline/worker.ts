import { DurableObject } from "cloudflare:workers";
import { neon, neonConfig } from "@neondatabase/serverless";
import { and, eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/neon-http";
import { Hono } from "hono";
import { calls } from "../../../src/db/schema/index.ts";

type Bindings = {
  COUNTER: DurableObjectNamespace<Counter>;
  DATABASE_URL: string;
  NEON_ENDPOINT: string;
};

/** One call writes one row: the least that an exact, lasting rate window can cost. */
export class Counter extends DurableObject<Bindings> {
  constructor(ctx: DurableObjectState, env: Bindings) {
    super(ctx, env);
    ctx.storage.sql.exec(
      "CREATE TABLE IF NOT EXISTS hits (key_id TEXT NOT NULL, at INTEGER NOT NULL)",
    );
  }

  hit(key: string): void {
    this.ctx.storage.sql.exec("INSERT INTO hits (key_id, at) VALUES (?, ?)", key, Date.now());
  }
}

type Row = Record<string, unknown>;

/** The same two statements, sent by drizzle and by the driver alone; each is made once. */
let drizzled: ReturnType<typeof drizzle> | undefined;
let driver: ReturnType<typeof neon> | undefined;

function driverOf(env: Bindings) {
  neonConfig.fetchEndpoint = env.NEON_ENDPOINT;
  driver ??= neon(env.DATABASE_URL);
  return driver;
}

async function byDrizzle(env: Bindings, organization: string, id: string): Promise<Row[]> {
  drizzled ??= drizzle(neon(env.DATABASE_URL));
  neonConfig.fetchEndpoint = env.NEON_ENDPOINT;
  const [, rows] = await drizzled.batch([
    drizzled.execute(
      sql`select set_config('role', 'app_tenant', true), set_config('app.org_id', ${organization}, true)`,
    ),
    drizzled
      .select()
      .from(calls)
      .where(and(eq(calls.orgId, organization), eq(calls.id, id))),
  ]);
  return rows;
}

async function byDriver(env: Bindings, organization: string, id: string): Promise<Row[]> {
  const query = driverOf(env);
  const [, rows] = await query.transaction([
    query.query(
      "select set_config('role', 'app_tenant', true), set_config('app.org_id', $1, true)",
      [organization],
    ),
    query.query("select * from calls where org_id = $1 and id = $2", [organization, id]),
  ]);
  return rows as Row[];
}

const route = (read: typeof byDrizzle) =>
  new Hono<{ Bindings: Bindings }>().get("/:org/:id", async (c) => {
    const { org, id } = c.req.param();
    await c.env.COUNTER.getByName(org).hit(id);
    return c.json(await read(c.env, org, id));
  });

export default new Hono<{ Bindings: Bindings }>()
  .route("/drizzle", route(byDrizzle))
  .route("/driver", route(byDriver));
