import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { neon, neonConfig, Pool } from "@neondatabase/serverless";
import { sql as raw } from "drizzle-orm";
import { drizzle } from "drizzle-orm/neon-http";
import { bigint, customType, integer, jsonb, pgTable, text, timestamp } from "drizzle-orm/pg-core";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { neonStandIn } from "../../dev/neon.ts";
import { type Postgres, startPostgres } from "../../dev/postgres.ts";
import type { StandIn } from "../../dev/stand-in.ts";

const bytea = customType<{ data: Uint8Array; driverData: Uint8Array }>({
  dataType: () => "bytea",
});
const things = pgTable("things", {
  id: integer("id").primaryKey(),
  document: jsonb("document"),
  tags: text("tags").array(),
  big: bigint("big", { mode: "bigint" }),
  bytes: bytea("bytes"),
  at: timestamp("at", { withTimezone: true }),
});

const stateDir = path.join(tmpdir(), `test-neon-${process.pid}`);
const url = "postgresql://app:app@localhost/app";
let postgres: Postgres;
let admin: pg.Client;
let standIn: StandIn;
let origin: string;
let closeServer: () => Promise<void>;

beforeAll(async () => {
  postgres = await startPostgres({ stateDir, durable: false });
  admin = new pg.Client(postgres.adminUrl);
  await admin.connect();
  await admin.query("create role app login password 'app'");
  await admin.query("create database app owner app");
  standIn = neonStandIn({ pgPort: postgres.port });
  ({ origin, close: closeServer } = await serve(standIn));
  neonConfig.fetchEndpoint = `http://${origin}/neon/sql`;
  neonConfig.wsProxy = () => `${origin}/neon/v2`;
  neonConfig.useSecureWebSocket = false;
  await neon(url)`create table things (id int primary key, document jsonb, tags text[],
    big bigint, bytes bytea, at timestamptz)`;
});

beforeEach(async () => {
  await neon(url)`truncate things`;
});

afterAll(async () => {
  await standIn.close?.();
  await closeServer();
  await admin.end();
  await postgres.stop();
  await rm(stateDir, { recursive: true });
});

test("every type comes back as it was stored, through drizzle", async () => {
  const db = drizzle(neon(url));
  const row = {
    id: 1,
    document: { quote: "\"'\\", nested: [1, null, { ä: "🎧" }] },
    tags: ['a"b', "c,d", "\\", "{}", "NULL", ""],
    big: 9007199254740993n,
    bytes: new Uint8Array([0, 1, 254, 255]),
    at: new Date("2026-01-02T03:04:05.678Z"),
  };
  await db.insert(things).values(row);
  const [found] = await db.select().from(things);
  expect({ ...found, bytes: new Uint8Array(found?.bytes ?? []) }).toEqual(row);
  const [rows, counted] = await db.batch([
    db.select({ id: things.id }).from(things),
    db.execute(raw`select count(*)::int as n from things`),
  ]);
  expect([rows, counted.rows]).toEqual([[{ id: 1 }], [{ n: 1 }]]);
});

test("a full result has Neon's fields", async () => {
  const result = await neon(url, { fullResults: true })`insert into things (id) values (${1})`;
  expect(result).toMatchObject({ command: "INSERT", rowCount: 1, rows: [] });
  const answer = await post({ query: "select 1 as one, null as none" });
  expect(await answer.json()).toEqual({
    fields: [
      expect.objectContaining({ name: "one", dataTypeID: 23, format: "text" }),
      expect.objectContaining({ name: "none", dataTypeID: 25, format: "text" }),
    ],
    rows: [["1", null]],
    command: "SELECT",
    rowCount: 1,
    rowAsArray: true,
  });
});

test("database errors keep their code and fields", async () => {
  const query = neon(url);
  await query`insert into things (id) values (1)`;
  await expect(query`insert into things (id) values (1)`).rejects.toMatchObject({
    name: "NeonDbError",
    code: "23505",
    constraint: "things_pkey",
    detail: "Key (id)=(1) already exists.",
    severity: "ERROR",
  });
  await expect(query.query("selec 1")).rejects.toMatchObject({ code: "42601", position: "1" });
  await expect(query.query("select 1; select 2")).rejects.toMatchObject({ code: "42601" });
  const stranger = neon("postgresql://app:wrong@localhost/app");
  await expect(stranger`select 1`).rejects.toMatchObject({ code: "28P01" });
  const nowhere = neon("postgresql://app:app@localhost/nowhere");
  await expect(nowhere`select 1`).rejects.toMatchObject({ code: "3D000" });
});

test("text that PostgreSQL cannot store is refused as PostgreSQL would", async () => {
  const query = neon(url);
  for (const text of ["a\0b", "a\ud800", "\udc00a"]) {
    await expect(query`select ${text}::text`).rejects.toMatchObject({ code: "22021" });
    await expect(query.query(`select '${text}'`)).rejects.toMatchObject({ code: "22021" });
  }
  const document = JSON.stringify({ text: "a\0b" });
  await expect(query`select ${document}::jsonb`).rejects.toMatchObject({ code: "22P05" });
});

test("requests that are not Neon's are refused", async () => {
  expect((await post("{")).status).toBe(400);
  expect((await post({ params: [] })).status).toBe(400);
  expect((await post({ queries: {} })).status).toBe(400);
  const query = { query: "select 1" };
  expect((await post(query, { "neon-connection-string": "mysql://a:b@c/d" })).status).toBe(400);
  expect((await post(query, { "neon-raw-text-output": "false" })).status).toBe(400);
  const batch = { queries: [query] };
  const wrongLevel = await post(batch, { "neon-batch-isolation-level": "Chaos" });
  expect([wrongLevel.status, await wrongLevel.json()]).toEqual([
    400,
    expect.objectContaining({ message: "invalid isolation level", code: null }),
  ]);
  expect((await fetch(`http://${origin}/neon/elsewhere`)).status).toBe(404);
});

test("a batch with a failure leaves nothing behind", async () => {
  const query = neon(url);
  const batch = query.transaction([
    query`insert into things (id) values (1)`,
    query`insert into things (id) values (1)`,
  ]);
  await expect(batch).rejects.toMatchObject({ code: "23505" });
  expect(await query`select id from things`).toEqual([]);
});

test("a batch takes isolation, read only and deferrable from its options", async () => {
  const query = neon(url);
  const settings = query`select current_setting('transaction_isolation') as isolation,
    current_setting('transaction_read_only') as read_only,
    current_setting('transaction_deferrable') as deferrable`;
  const strict = { isolationLevel: "Serializable", readOnly: true, deferrable: true } as const;
  expect(await query.transaction([settings], strict)).toEqual([
    [{ isolation: "serializable", read_only: "on", deferrable: "on" }],
  ]);
  expect(await query.transaction([settings])).toEqual([
    [{ isolation: "read committed", read_only: "off", deferrable: "off" }],
  ]);
  const write = query`insert into things (id) values (1)`;
  await expect(query.transaction([write], { readOnly: true })).rejects.toMatchObject({
    code: "25006",
  });
});

test("fifty batches at once each see only their own settings", async () => {
  const query = neon(url);
  const batches = Array.from({ length: 50 }, (_, n) =>
    query.transaction([
      query`select set_config('app.org_id', ${`org-${n}`}, true)`,
      query`select pg_sleep(0.005)`,
      query`select current_setting('app.org_id') as org`,
    ]),
  );
  const seen = (await Promise.all(batches)).map(([, , rows]) => rows);
  expect(seen).toEqual(Array.from({ length: 50 }, (_, n) => [{ org: `org-${n}` }]));
});

test("a lone BEGIN does not put the next request into its transaction", async () => {
  const query = neon(url);
  await query`begin`;
  await query`insert into things (id) values (1)`;
  const { rows } = await admin.query(
    "select from pg_stat_activity where usename = 'app' and state like 'idle in transaction%'",
  );
  expect(rows).toEqual([]);
  expect(await query`select id from things`).toEqual([{ id: 1 }]);
});

test("a caller that goes away cancels its query and its batch on the server", async () => {
  const query = neon(url);
  const caller = new AbortController();
  const fetchOptions = { signal: caller.signal };
  const lone = query.query("select pg_sleep(60)", [], { fetchOptions });
  const batch = query.transaction(
    [query`insert into things (id) values (1)`, query`select pg_sleep(60)`],
    { fetchOptions },
  );
  const failed = Promise.allSettled([lone, batch]);
  await vi.waitFor(async () => expect(await sleeping()).toBe(2), 5_000);
  caller.abort();
  expect((await failed).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await vi.waitFor(async () => expect(await sleeping()).toBe(0), 5_000);
  expect(await query`select id from things`).toEqual([]);
});

test("a connection that the server cuts is reported and replaced", async () => {
  const query = neon(url);
  const cut = query`select pg_sleep(60)`.then(
    () => undefined,
    (error) => error,
  );
  await vi.waitFor(async () => expect(await sleeping()).toBe(1), 5_000);
  await admin.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'app' and state = 'active'",
  );
  expect(await cut).toMatchObject({ code: "57P01" });
  expect(await query`select 1 as one`).toEqual([{ one: 1 }]);
});

test("connections that the server cuts while they are idle cost no batch", async () => {
  const query = neon(url);
  const batches = () =>
    Promise.all(Array.from({ length: 8 }, () => query.transaction([query`select pg_sleep(0.01)`])));
  for (let round = 0; round < 5; round++) {
    await batches();
    const cut = admin.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'app'",
    );
    expect(await Promise.allSettled([cut.then(batches)])).toMatchObject([{ status: "fulfilled" }]);
  }
});

test("the driver's pool runs interactive transactions over WebSocket", async () => {
  const pool = new Pool({ connectionString: url });
  pool.on("error", () => {});
  const [a, b] = [await pool.connect(), await pool.connect()];
  await pool.query("insert into things (id) values (1), (2)");
  const claim = "select id from things order by id limit 1 for update skip locked";
  await a.query("begin");
  await b.query("begin");
  expect((await a.query(claim)).rows).toEqual([{ id: 1 }]);
  expect((await b.query(claim)).rows).toEqual([{ id: 2 }]);
  await a.query("delete from things where id = 1");
  await a.query("rollback");
  await b.query("commit");
  const large = "x".repeat(3_000_000);
  expect((await a.query("select $1::text as large", [large])).rows).toEqual([{ large }]);
  await expect(a.query("selec 1")).rejects.toMatchObject({ code: "42601" });
  a.release();
  b.release();
  await pool.end();
  expect(await neon(url)`select count(*)::int as n from things`).toEqual([{ n: 2 }]);
});

test("requests, queries and sockets are counted", async () => {
  const before = await stats();
  const query = neon(url);
  await query`select 1`;
  await query.transaction([query`select 1`, query`select 2`]);
  const pool = new Pool({ connectionString: url });
  pool.on("error", () => {});
  await pool.query("select 1");
  await pool.end();
  const after = await stats();
  expect([after.http - before.http, after.queries - before.queries, after.ws - before.ws]).toEqual([
    2, 3, 1,
  ]);
});

/** The part of the world's router that a stand-in relies on: its prefix is taken off. */
async function serve(served: StandIn): Promise<{ origin: string; close(): Promise<void> }> {
  const prefix = `/${served.name}`;
  const pathOf = (target = "") => target.slice(prefix.length);
  const server = createServer((request, response) => {
    void served.handle(request, response, pathOf(request.url));
  });
  server.on("upgrade", (request, socket, head) => {
    served.upgrade?.(request, socket, head, pathOf(request.url));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    origin: `127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function post(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`http://${origin}/neon/sql`, {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
    headers: {
      "neon-connection-string": url,
      "neon-raw-text-output": "true",
      "neon-array-mode": "true",
      ...headers,
    },
  });
}

async function stats(): Promise<{ http: number; queries: number; ws: number }> {
  const response = await fetch(`http://${origin}/neon/stats`);
  return (await response.json()) as { http: number; queries: number; ws: number };
}

async function sleeping(): Promise<number> {
  const { rowCount } = await admin.query(
    "select from pg_stat_activity where usename = 'app' and query like '%pg_sleep(60)%' and state = 'active'",
  );
  return rowCount ?? 0;
}
