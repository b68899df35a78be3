import type { IncomingHttpHeaders, IncomingMessage } from "node:http";

export type Query = { text: string; params: unknown[]; asArrays: boolean };
export type Login = { user: string; password: string; database: string };
/** `begin` is set for a batch: the statement that opens its transaction. */
export type SqlRequest = { login: Login; queries: Query[]; begin: string | undefined };

/** What the endpoint itself refuses; Neon's driver takes only 400 for a database error. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string | undefined;
  constructor(status: number, message: string, code?: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const maxBodyBytes = 64 * 1024 * 1024;

const isolationLevels = new Map([
  ["ReadUncommitted", "READ UNCOMMITTED"],
  ["ReadCommitted", "READ COMMITTED"],
  ["RepeatableRead", "REPEATABLE READ"],
  ["Serializable", "SERIALIZABLE"],
]);

/** Reads to the end even when that is too much: an answer before it would be lost with the socket. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
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

/** Throws `Refusal` for what the endpoint itself does not take. */
export function parseRequest(headers: IncomingHttpHeaders, body: Buffer): SqlRequest {
  const target = headers["neon-connection-string"];
  if (typeof target !== "string") {
    throw new Refusal(400, "missing header: neon-connection-string");
  }
  if (headers["neon-raw-text-output"] !== "true") {
    throw new Refusal(400, "only Neon-Raw-Text-Output: true is supported here");
  }
  const login = parseTarget(target);
  const asArrays = headers["neon-array-mode"] === "true";
  const content = parseJson(body);
  if (typeof content === "object" && content !== null && "queries" in content) {
    if (!Array.isArray(content.queries)) throw new Refusal(400, "queries must be an array");
    const queries = content.queries.map((query) => parseQuery(query, asArrays));
    return { login, queries, begin: beginStatement(headers) };
  }
  return { login, queries: [parseQuery(content, asArrays)], begin: undefined };
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

function parseTarget(target: string): Login {
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
