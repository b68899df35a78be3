import { connect } from "node:net";
import pg from "pg";
import type { Login, Query, SqlRequest } from "./request.ts";

export type Result = {
  fields: pg.FieldDef[];
  /** Every value is PostgreSQL's own text: the driver does the parsing. */
  rows: unknown[];
  command: string;
  rowCount: number | null;
  rowAsArray: boolean;
};
/** What `pg` keeps for each connection and leaves out of its types. */
type BackendKey = { processID: number; secretKey: number };

const connectionsPerDatabase = 16;

export type Database = {
  /** Runs a request's statements; aborting `caller` cancels the one under way. */
  execute(sql: SqlRequest, caller: AbortSignal, onQuery: () => void): Promise<Result[]>;
  close(): Promise<void>;
};

/** The server on `pgPort`, with a pool of connections for each login. */
export function database(pgPort: number): Database {
  const pools = new Map<string, pg.Pool>();
  function poolFor(login: Login): pg.Pool {
    const key = JSON.stringify(login);
    const pool = pools.get(key) ?? newPool(pgPort, login);
    pools.set(key, pool);
    return pool;
  }
  return {
    async execute(sql, caller, onQuery) {
      const client = await open(poolFor(sql.login), sql.begin);
      const cancel = () => cancelQuery(pgPort, client);
      caller.addEventListener("abort", cancel);
      let lost = false;
      try {
        const results: Result[] = [];
        for (const query of sql.queries) {
          caller.throwIfAborted();
          onQuery();
          results.push(await run(client, query));
        }
        caller.throwIfAborted();
        if (sql.begin !== undefined) await client.query("COMMIT");
        return results;
      } catch (error) {
        lost = isLost(error);
        // Fails only on a lost connection, which rolls back as well.
        if (sql.begin !== undefined) await client.query("ROLLBACK").catch(() => {});
        throw error;
      } finally {
        caller.removeEventListener("abort", cancel);
        // As Neon does: a lone BEGIN costs its connection. A late cancel must not hit the next query.
        client.release(lost || caller.aborted || client.getTransactionStatus() !== "I");
      }
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.end()));
    },
  };
}

/**
 * A connection, in a transaction if `begin` says so. One that the server cut while it was idle
 * tells so only now; nothing was asked of it yet, so another may take its place.
 */
async function open(pool: pg.Pool, begin: string | undefined): Promise<pg.PoolClient> {
  for (let attempt = 1; ; attempt++) {
    const client = await pool.connect();
    if (begin === undefined) return client;
    try {
      await client.query(begin);
      return client;
    } catch (error) {
      client.release(true);
      if (!isLost(error) || attempt > connectionsPerDatabase) throw error;
    }
  }
}

/** A FATAL error is told before the connection closes, so the pool would still hand it out. */
function isLost(error: unknown): boolean {
  return !(error instanceof pg.DatabaseError) || error.severity !== "ERROR";
}

async function run(client: pg.PoolClient, query: Query): Promise<Result> {
  const config = {
    text: query.text,
    values: query.params,
    types: { getTypeParser: () => (text: string) => text },
    // Even without parameters: the simple protocol would take several statements.
    queryMode: "extended",
    ...(query.asArrays ? { rowMode: "array" } : {}),
  };
  const { fields, rows, command, rowCount } = await client.query(config);
  const texts = fields.map((field) => ({ ...field, format: "text" }));
  return { fields: texts, rows, command, rowCount, rowAsArray: query.asArrays };
}

function newPool(pgPort: number, login: Login): pg.Pool {
  const address = { host: "127.0.0.1", port: pgPort, ssl: false };
  const limits = { max: connectionsPerDatabase, idleTimeoutMillis: 5_000 };
  const pool = new pg.Pool({ ...address, ...login, ...limits });
  // The pool replaces a lost connection; unheard, its "error" would end this process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** PostgreSQL's CancelRequest, which needs no login and no free connection. */
function cancelQuery(pgPort: number, client: pg.PoolClient): void {
  const { processID, secretKey } = client as pg.PoolClient & BackendKey;
  const packet = Buffer.alloc(16);
  packet.writeInt32BE(packet.length, 0);
  packet.writeInt32BE(80877102, 4);
  packet.writeInt32BE(processID, 8);
  packet.writeInt32BE(secretKey, 12);
  connect(pgPort, "127.0.0.1")
    .on("error", () => {})
    .end(packet);
}
