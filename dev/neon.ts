import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:net";
import pg from "pg";
import { type WebSocket, WebSocketServer } from "ws";
import type { Recorder, StandIn } from "./stand-in.ts";

export type NeonOptions = {
  pgPort: number;
  /** Answers `POST /databases`, one call at a time, with the new database's connection string. */
  newDatabase?: () => Promise<string>;
  record?: Recorder;
};

type Result = {
  fields: pg.FieldDef[];
  /** Every value is PostgreSQL's own text: the driver does the parsing. */
  rows: unknown[];
  command: string;
  rowCount: number | null;
  rowAsArray: boolean;
};
type Query = { text: string; params: unknown[]; asArrays: boolean };
/** `begin` is set for a batch: the statement that opens its transaction. */
type SqlRequest = { target: string; queries: Query[]; begin: string | undefined };
/** What `pg` keeps for each connection and leaves out of its types. */
type BackendKey = { processID: number; secretKey: number };
type Gateway = {
  pgPort: number;
  pools: Map<string, pg.Pool>;
  /** One for each `/sql` under way; aborting cancels its query. */
  running: Set<AbortController>;
  stats: { http: number; queries: number; ws: number };
  record: Recorder | undefined;
};

/** What the endpoint itself refuses; Neon's driver takes only 400 for a database error. */
class Refusal extends Error {
  readonly status: number;
  readonly code: string | undefined;
  constructor(status: number, message: string, code?: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const maxBodyBytes = 64 * 1024 * 1024;
const maxUnsentBytes = 1024 * 1024;
const connectionsPerDatabase = 16;

const isolationLevels = new Map([
  ["ReadUncommitted", "READ UNCOMMITTED"],
  ["ReadCommitted", "READ COMMITTED"],
  ["RepeatableRead", "REPEATABLE READ"],
  ["Serializable", "SERIALIZABLE"],
]);
const batchHeaders = [
  "neon-batch-isolation-level",
  "neon-batch-read-only",
  "neon-batch-deferrable",
] as const;
const errorFields = [
  ...["code", "detail", "hint", "position", "internalPosition", "internalQuery", "severity"],
  ...["where", "table", "column", "schema", "dataType", "constraint", "file", "line", "routine"],
];

/** Neon on loopback: SQL over HTTP (`POST /sql`) and PostgreSQL's protocol over WebSocket. */
export function neonStandIn({ pgPort, newDatabase, record }: NeonOptions): StandIn {
  const stats = { http: 0, queries: 0, ws: 0 };
  const gateway: Gateway = { pgPort, pools: new Map(), running: new Set(), stats, record };
  const sockets = new WebSocketServer({ noServer: true });
  const createDatabase = newDatabase && oneAtATime(newDatabase);
  return {
    name: "neon",
    async handle(request, response, path) {
      const route = `${request.method} ${path.split("?")[0]}`;
      if (route === "POST /sql") return answerSql(gateway, request, response);
      if (route === "GET /stats") return sendJson(response, 200, stats);
      if (route === "POST /databases" && createDatabase) {
        return createDatabase().then(
          (url) => sendJson(response, 200, { url }),
          (error) => sendError(response, error),
        );
      }
      sendJson(response, 404, { message: "not found" });
    },
    upgrade(request, socket, head) {
      sockets.handleUpgrade(request, socket, head, (client) => {
        stats.ws++;
        relay(client, pgPort);
      });
    },
    async close() {
      for (const request of gateway.running) request.abort();
      for (const client of sockets.clients) client.terminate();
      await Promise.all([...gateway.pools.values()].map((pool) => pool.end()));
    },
  };
}

async function answerSql(
  gateway: Gateway,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  gateway.stats.http++;
  const caller = new AbortController();
  gateway.running.add(caller);
  response.once("close", () => caller.abort());
  try {
    const sql = parseRequest(request.headers, await readBody(request));
    gateway.record?.("sql", { batch: sql.begin ?? null, queries: sql.queries.map((q) => q.text) });
    const results = await execute(gateway, sql, caller.signal);
    if (sql.begin === undefined) return sendJson(response, 200, results[0]);
    for (const name of batchHeaders) {
      const value = request.headers[name];
      if (value !== undefined) response.setHeader(name, value);
    }
    sendJson(response, 200, { results });
  } catch (error) {
    sendError(response, error);
  } finally {
    gateway.running.delete(caller);
  }
}

/** Reads to the end even when that is too much: an answer before it would be lost with the socket. */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= maxBodyBytes) chunks.push(chunk);
  }
  if (size > maxBodyBytes) {
    throw new Refusal(413, `request is too large (max is ${maxBodyBytes} bytes)`);
  }
  return Buffer.concat(chunks);
}

function parseRequest(headers: IncomingHttpHeaders, body: Buffer): SqlRequest {
  const target = headers["neon-connection-string"];
  if (typeof target !== "string") {
    throw new Refusal(400, "missing header: neon-connection-string");
  }
  if (headers["neon-raw-text-output"] !== "true") {
    throw new Refusal(400, "only Neon-Raw-Text-Output: true is supported here");
  }
  const asArrays = headers["neon-array-mode"] === "true";
  const content = parseJson(body);
  if (typeof content === "object" && content !== null && "queries" in content) {
    if (!Array.isArray(content.queries)) throw new Refusal(400, "queries must be an array");
    const queries = content.queries.map((query) => parseQuery(query, asArrays));
    return { target, queries, begin: beginStatement(headers) };
  }
  return { target, queries: [parseQuery(content, asArrays)], begin: undefined };
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body), (_key, value) => {
      if (typeof value === "string") refuseUnstorable(value);
      return value;
    });
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(400, "the request body is not JSON in UTF-8");
  }
}

/** PostgreSQL would say so itself, but its wire protocol and UTF-8 cannot carry these to it. */
function refuseUnstorable(text: string): void {
  const message = 'invalid byte sequence for encoding "UTF8"';
  if (text.includes("\0")) throw new Refusal(400, `${message}: 0x00`, "22021");
  if (!text.isWellFormed()) throw new Refusal(400, `${message}: 0xed 0xa0 0x80`, "22021");
}

function parseQuery(value: unknown, asArrays: boolean): Query {
  if (typeof value !== "object" || value === null || !("query" in value)) {
    throw new Refusal(400, "missing field: query");
  }
  const params = "params" in value ? value.params : [];
  if (typeof value.query !== "string" || !Array.isArray(params)) {
    throw new Refusal(400, "query must be a string and params an array");
  }
  return { text: value.query, params, asArrays };
}

function beginStatement(headers: IncomingHttpHeaders): string {
  const words = ["BEGIN"];
  const wanted = headers["neon-batch-isolation-level"];
  if (wanted !== undefined) {
    const level = isolationLevels.get(String(wanted));
    if (level === undefined) throw new Refusal(400, "invalid isolation level");
    words.push("ISOLATION LEVEL", level);
  }
  if (headers["neon-batch-read-only"] === "true") words.push("READ ONLY");
  if (headers["neon-batch-deferrable"] === "true") words.push("DEFERRABLE");
  return words.join(" ");
}

async function execute(gateway: Gateway, sql: SqlRequest, caller: AbortSignal): Promise<Result[]> {
  const client = await poolFor(gateway, sql.target).connect();
  const cancel = () => cancelQuery(gateway.pgPort, client);
  caller.addEventListener("abort", cancel);
  let lost = false;
  try {
    if (sql.begin !== undefined) await client.query(sql.begin);
    const results: Result[] = [];
    for (const query of sql.queries) {
      caller.throwIfAborted();
      gateway.stats.queries++;
      results.push(await run(client, query));
    }
    caller.throwIfAborted();
    if (sql.begin !== undefined) await client.query("COMMIT");
    return results;
  } catch (error) {
    // A FATAL error is told before the connection closes, so the pool would still hand it out.
    lost = !(error instanceof pg.DatabaseError) || error.severity !== "ERROR";
    // Fails only on a lost connection, which rolls back as well.
    if (sql.begin !== undefined) await client.query("ROLLBACK").catch(() => {});
    throw error;
  } finally {
    caller.removeEventListener("abort", cancel);
    // As Neon does: a lone BEGIN costs its connection. A late cancel must not hit the next query.
    client.release(lost || caller.aborted || client.getTransactionStatus() !== "I");
  }
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

function poolFor({ pools, pgPort }: Gateway, target: string): pg.Pool {
  const { user, password, database } = parseTarget(target);
  const key = JSON.stringify([user, password, database]);
  let pool = pools.get(key);
  if (pool === undefined) {
    const login = { host: "127.0.0.1", port: pgPort, user, password, database, ssl: false };
    pool = new pg.Pool({ ...login, max: connectionsPerDatabase, idleTimeoutMillis: 5_000 });
    // The pool replaces a lost connection; unheard, its "error" would end this process.
    pool.on("error", () => {});
    pool.on("connect", (client) => client.on("error", () => {}));
    pools.set(key, pool);
  }
  return pool;
}

function parseTarget(target: string): { user: string; password: string; database: string } {
  const url = URL.canParse(target) ? new URL(target) : undefined;
  const database = url?.pathname.slice(1);
  if (!url || !/^postgres(ql)?:$/.test(url.protocol) || !url.username || !database) {
    throw new Refusal(400, "invalid connection string");
  }
  return {
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(database),
  };
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

function relay(client: WebSocket, pgPort: number): void {
  const server = connect(pgPort, "127.0.0.1").setNoDelay(true);
  client.on("message", (data: Buffer) => {
    if (server.write(data)) return;
    client.pause();
    server.once("drain", () => client.resume());
  });
  server.on("data", (data) => {
    if (client.bufferedAmount < maxUnsentBytes) return client.send(data);
    server.pause();
    client.send(data, () => server.resume());
  });
  // A close frame, not a cut connection: drivers report the latter as a failure of the network.
  server.on("error", () => client.close(1011));
  server.on("close", () => client.close(1000));
  client.on("error", () => server.destroy());
  client.on("close", () => server.destroySoon());
}

function oneAtATime<T>(work: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    const next = last.then(work, work);
    last = next;
    return next;
  };
}

function sendError(response: ServerResponse, error: unknown): void {
  const status =
    error instanceof Refusal ? error.status : error instanceof pg.DatabaseError ? 400 : 500;
  const source = new Map(status === 500 ? [] : Object.entries(Object(error)));
  const fields = errorFields.map((name) => [name, source.get(name) ?? null]);
  const message = error instanceof Error ? error.message : "internal error";
  sendJson(response, status, { message, ...Object.fromEntries(fields) });
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}
