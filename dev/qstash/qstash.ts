import type { IncomingMessage, ServerResponse } from "node:http";
import type { Recorder, StandIn } from "../stand-in.ts";
import { storedClock } from "./clock.ts";
import { advance, createDispatcher, idle, start, stop } from "./dispatcher.ts";
import { headerLists } from "./headers.ts";
import { Refused } from "./refused.ts";
import { type Answer, route } from "./routes.ts";
import { openStore } from "./store.ts";

const LARGEST_REQUEST_BYTES = 10 * 1024 * 1024;

export type QStash = StandIn & {
  /** Begins delivering. Until then requests are answered and messages kept. */
  start(): void;
  /**
   * Moves the queue's clock forward. What falls due on the way is delivered now, each moment's
   * messages after the answers to the moment before, retries and newly published ones included.
   * A schedule fires at most once. Waits for the requests in flight, so a receiver that holds one
   * holds this. Before `start` only the clock moves. Signatures keep to the real clock.
   */
  advance(seconds: number): Promise<void>;
  /** Resolves when nothing is due or in flight; before `start`, not until then. */
  idle(): Promise<void>;
  close(): Promise<void>;
};

/**
 * QStash on loopback: publish, batch, schedules, messages, dead letters, events and keys of its
 * REST API. URL groups, FIFO queues, flow-control administration and workflows are refused (400).
 * Delivery is at least once: what was in flight when the process died is delivered again.
 *
 * @param options.database a SQLite file, or ":memory:"
 * @param options.token the bearer token callers must bring
 * @param options.currentSigningKey signs every delivery; `nextSigningKey` is only announced
 */
export function qstashStandIn(options: {
  database: string;
  token: string;
  currentSigningKey: string;
  nextSigningKey: string;
  record: Recorder;
}): QStash {
  const store = openStore(options.database);
  const signingKeys = { current: options.currentSigningKey, next: options.nextSigningKey };
  const dispatcher = createDispatcher({
    store,
    clock: storedClock(store),
    signingKey: options.currentSigningKey,
    record: options.record,
  });
  return {
    name: "qstash",
    async handle(request, response, path) {
      try {
        authenticate(request, options.token);
        const body = await readBody(request);
        const headers = headerLists(request.headersDistinct);
        const call = { queue: dispatcher, signingKeys, headers, body };
        answer(response, route(request.method ?? "", path, call));
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        answer(response, { status: error.status, json: { error: error.message } });
      }
    },
    start: () => start(dispatcher),
    advance: (seconds) => advance(dispatcher, seconds),
    idle: () => idle(dispatcher),
    async close() {
      await stop(dispatcher);
      store.close();
    },
  };
}

function authenticate(request: IncomingMessage, token: string): void {
  if (request.headers.authorization === `Bearer ${token}`) return;
  throw new Refused(401, "unable to authenticate: invalid token");
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= LARGEST_REQUEST_BYTES) chunks.push(chunk);
  }
  if (size > LARGEST_REQUEST_BYTES) throw new Refused(413, "message too large");
  return Buffer.concat(chunks);
}

function answer(response: ServerResponse, { status, json }: Answer): void {
  const text = json === undefined ? "" : JSON.stringify(json);
  response.writeHead(status, { "content-type": "application/json" }).end(text);
}
