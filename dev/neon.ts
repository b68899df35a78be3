import type { IncomingMessage, ServerResponse } from "node:http";
import pg from "pg";
import { WebSocketServer } from "ws";
import { type Database, database } from "./neon/execute.ts";
import { relay } from "./neon/relay.ts";
import { parseRequest, Refusal, readBody } from "./neon/request.ts";
import type { Recorder, StandIn } from "./stand-in.ts";

export type NeonOptions = { pgPort: number; record?: Recorder };

type Gateway = {
  database: Database;
  /** One for each `/sql` under way; aborting cancels its query. */
  running: Set<AbortController>;
  stats: { http: number; queries: number; ws: number };
  record: Recorder | undefined;
};

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
export function neonStandIn({ pgPort, record }: NeonOptions): StandIn {
  const stats = { http: 0, queries: 0, ws: 0 };
  const gateway: Gateway = { database: database(pgPort), running: new Set(), stats, record };
  const sockets = new WebSocketServer({ noServer: true });
  return {
    name: "neon",
    async handle(request, response, path) {
      const route = `${request.method} ${path.split("?")[0]}`;
      if (route === "POST /sql") return answerSql(gateway, request, response);
      if (route === "GET /stats") return sendJson(response, 200, stats);
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
      await gateway.database.close();
    },
  };
}

async function answerSql(
  { database, running, stats, record }: Gateway,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  stats.http++;
  const caller = new AbortController();
  running.add(caller);
  response.once("close", () => caller.abort());
  try {
    const sql = parseRequest(request.headers, await readBody(request));
    record?.("sql", { batch: sql.begin ?? null, queries: sql.queries.map((q) => q.text) });
    const results = await database.execute(sql, caller.signal, () => stats.queries++);
    if (sql.begin === undefined) return sendJson(response, 200, results[0]);
    for (const name of batchHeaders) {
      const value = request.headers[name];
      if (value !== undefined) response.setHeader(name, value);
    }
    sendJson(response, 200, { results });
  } catch (error) {
    sendError(response, error);
  } finally {
    running.delete(caller);
  }
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
