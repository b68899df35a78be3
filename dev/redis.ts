import type { IncomingMessage, ServerResponse } from "node:http";
import type { Recorder, StandIn } from "./stand-in.ts";
import { readText, sendJson } from "./world/http.ts";

type Value = string | number | null;
type Reply = { result: Value } | { error: string };

/** `expiresAt` is in milliseconds since the epoch; Infinity means never. */
type Entry = { value: string; expiresAt: number };
type Store = Map<string, Entry>;

type Command = {
  /** The fewest and most arguments, the command's own name not counted. */
  arity: [min: number, max: number];
  run(args: string[], store: Store, now: number): Reply;
};

export type RedisOptions = {
  token: string;
  record: Recorder;
  /** Milliseconds since the epoch, by default the computer's clock. */
  now?: () => number;
};

const ok: Reply = { result: "OK" };
const notAnInteger: Reply = { error: "ERR value is not an integer or out of range" };
const syntaxError: Reply = { error: "ERR syntax error" };

const commands = new Map<string, Command>([
  ["PING", { arity: [0, 1], run: ([message]) => ({ result: message ?? "PONG" }) }],
  ["GET", { arity: [1, 1], run: ([key = ""], store) => ({ result: readValue(store, key) }) }],
  ["SET", { arity: [2, Infinity], run: set }],
  ["GETDEL", { arity: [1, 1], run: getDel }],
  ["DEL", { arity: [1, Infinity], run: (keys, store) => count(keys, (key) => store.delete(key)) }],
  ["EXISTS", { arity: [1, Infinity], run: (keys, store) => count(keys, (key) => store.has(key)) }],
  ["INCR", { arity: [1, 1], run: ([key = ""], store) => incrementBy(store, key, "1") }],
  ["INCRBY", { arity: [2, 2], run: ([key = "", by = ""], store) => incrementBy(store, key, by) }],
  ["EXPIRE", { arity: [2, 3], run: expire }],
  ["TTL", { arity: [1, 1], run: ([key = ""], store, now) => timeLeft(store, key, now, 1000) }],
  ["PTTL", { arity: [1, 1], run: ([key = ""], store, now) => timeLeft(store, key, now, 1) }],
]);

/**
 * Upstash Redis over its REST protocol, in memory, with the commands in `commands`. A value is a
 * string; there are no lists, hashes or scripts.
 */
export function redisStandIn({ token, record, now = Date.now }: RedisOptions): StandIn {
  const store: Store = new Map();
  const execute = ([name = "", ...args]: string[]): Reply => {
    const at = now();
    for (const [key, entry] of store) if (entry.expiresAt <= at) store.delete(key);
    record("redis", { command: name.toUpperCase(), args });
    const command = findCommand([name, ...args]);
    return "error" in command ? command : command.run(args, store, at);
  };
  return {
    name: "redis",
    async handle(request, response, path) {
      const body = await readText(request);
      const { status, answer } = respond(request, path, body, token, execute);
      const encoded = request.headers["upstash-encoding"] === "base64";
      send(response, status, encoded ? encode(answer) : answer);
    },
  };
}

type Answer = { status: number; answer: Reply | Reply[] };

function respond(
  request: IncomingMessage,
  path: string,
  body: string,
  token: string,
  execute: (command: string[]) => Reply,
): Answer {
  if (!["GET", "POST", "PUT", "HEAD"].includes(request.method ?? "")) {
    return { status: 405, answer: { error: "Method Not Allowed" } };
  }
  const url = new URL(`http://redis${path}`);
  const given = request.headers.authorization?.replace(/^Bearer /i, "");
  if ((given ?? url.searchParams.get("_token")) !== token) {
    return { status: 401, answer: { error: "WRONGPASS invalid or missing auth token" } };
  }
  if (url.pathname === "/pipeline" || url.pathname === "/multi-exec") {
    const batch = parseBatch(body);
    if (!batch) return { status: 400, answer: unparsable };
    // A transaction with one bad command does nothing; a pipeline does all the others.
    const bad = batch.map(findCommand).find((command) => "error" in command);
    if (bad && url.pathname === "/multi-exec") return { status: 400, answer: bad };
    return { status: 200, answer: batch.map(execute) };
  }
  const command = url.pathname === "/" ? parseCommand(body) : commandInPath(url, body);
  const reply = command ? execute(command) : unparsable;
  return { status: "error" in reply ? 400 : 200, answer: reply };
}

const unparsable: Reply = { error: "ERR failed to parse command" };

function parseCommand(body: string): string[] | undefined {
  const command = parseArray(body);
  return command?.length ? command.map(toArgument) : undefined;
}

function parseBatch(body: string): string[][] | undefined {
  const batch = parseArray(body);
  if (!batch?.every((command) => Array.isArray(command) && command.length > 0)) return undefined;
  return batch.map((command) => (command as unknown[]).map(toArgument));
}

function parseArray(body: string): unknown[] | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    return Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function toArgument(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** `/set/key/value?EX=10`, where a body, if any, is the argument after the path's. */
function commandInPath(url: URL, body: string): string[] | undefined {
  const options = [...url.searchParams].filter(([name]) => name !== "_token").flat();
  try {
    const parts = url.pathname.split("/").filter(Boolean).map(decodeURIComponent);
    return [...parts, ...(body ? [body] : []), ...options.filter(Boolean)];
  } catch {
    return undefined;
  }
}

/** Or the error, when it does not exist or got too few or too many arguments. */
function findCommand([name = "", ...args]: string[]): Command | { error: string } {
  const command = commands.get(name.toUpperCase());
  if (!command) {
    const beginning = args.map((arg) => `'${arg}' `).join("");
    return { error: `ERR unknown command '${name}', with args beginning with: ${beginning}` };
  }
  const [min, max] = command.arity;
  if (args.length >= min && args.length <= max) return command;
  return { error: `ERR wrong number of arguments for '${name.toLowerCase()}' command` };
}

/** Upstash leaves `OK`, numbers and null as they are. */
function encode(answer: Reply | Reply[]): Reply | Reply[] {
  if (Array.isArray(answer)) return answer.map((reply) => encode(reply) as Reply);
  if ("error" in answer || typeof answer.result !== "string" || answer.result === "OK") {
    return answer;
  }
  return { result: Buffer.from(answer.result).toString("base64") };
}

function send(response: ServerResponse, status: number, answer: Reply | Reply[]): void {
  response.setHeader("upstash-sync-token", "0");
  sendJson(response, status, answer);
}

function readValue(store: Store, key: string): string | null {
  return store.get(key)?.value ?? null;
}

function count(keys: string[], applies: (key: string) => boolean): Reply {
  return { result: keys.filter(applies).length };
}

function getDel([key = ""]: string[], store: Store): Reply {
  const value = readValue(store, key);
  store.delete(key);
  return { result: value };
}

function set([key = "", value = "", ...options]: string[], store: Store, now: number): Reply {
  const chosen = new Map<string, string>();
  for (let index = 0; index < options.length; index += 1) {
    const option = (options[index] ?? "").toUpperCase();
    if (!["EX", "PX", "NX", "XX", "GET"].includes(option) || chosen.has(option)) return syntaxError;
    const takesTime = option === "EX" || option === "PX";
    if (takesTime) index += 1;
    chosen.set(option, takesTime ? (options[index] ?? "") : "");
  }
  if ((chosen.has("EX") && chosen.has("PX")) || (chosen.has("NX") && chosen.has("XX"))) {
    return syntaxError;
  }
  let expiresAt = Number.POSITIVE_INFINITY;
  const time = chosen.get("EX") ?? chosen.get("PX");
  if (time !== undefined) {
    const amount = toInteger(time);
    if (amount === undefined) return notAnInteger;
    if (amount <= 0) return { error: "ERR invalid expire time in 'set' command" };
    expiresAt = now + amount * (chosen.has("EX") ? 1000 : 1);
  }
  const before = readValue(store, key);
  const refused = chosen.has("NX") ? before !== null : chosen.has("XX") && before === null;
  if (!refused) store.set(key, { value, expiresAt });
  if (chosen.has("GET")) return { result: before };
  return refused ? { result: null } : ok;
}

function incrementBy(store: Store, key: string, by: string): Reply {
  const entry = store.get(key) ?? { value: "0", expiresAt: Number.POSITIVE_INFINITY };
  const current = toInteger(entry.value);
  const step = toInteger(by);
  if (current === undefined || step === undefined) return notAnInteger;
  store.set(key, { ...entry, value: String(current + step) });
  return { result: current + step };
}

function expire([key = "", time = "", option]: string[], store: Store, now: number): Reply {
  const seconds = toInteger(time);
  if (seconds === undefined) return notAnInteger;
  if (option !== undefined && option.toUpperCase() !== "NX") {
    return { error: `ERR Unsupported option ${option}` };
  }
  const entry = store.get(key);
  if (!entry || (option && Number.isFinite(entry.expiresAt))) return { result: 0 };
  if (seconds > 0) entry.expiresAt = now + seconds * 1000;
  else store.delete(key);
  return { result: 1 };
}

/** In units of so many milliseconds; -2 without the key, -1 when it never expires. */
function timeLeft(store: Store, key: string, now: number, unitMs: number): Reply {
  const entry = store.get(key);
  if (!entry) return { result: -2 };
  if (!Number.isFinite(entry.expiresAt)) return { result: -1 };
  return { result: Math.round((entry.expiresAt - now) / unitMs) };
}

function toInteger(text: string): number | undefined {
  const number = /^(0|-?[1-9]\d*)$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}
