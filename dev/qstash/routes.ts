import { randomUUID } from "node:crypto";
import { deadLetterView, listDeadLetters, removeDeadLetter } from "./dead-letters.ts";
import { listEvents } from "./events.ts";
import { filter, page } from "./filter.ts";
import { type HeaderLists, headerLists, headerValue } from "./headers.ts";
import { messageView } from "./message.ts";
import { cancel, deduplicationKey, type Published, publish, type Queue } from "./publish.ts";
import { Refused } from "./refused.ts";
import {
  findSchedule,
  listSchedules,
  nextRun,
  removeSchedule,
  saveSchedule,
  scheduleView,
} from "./schedules.ts";
import { readSettings } from "./settings.ts";
import { atomically, findMessage, listMessages } from "./store.ts";

/** A request after authentication; `target` is what the route's pattern captured. */
export type Call = {
  queue: Queue;
  signingKeys: { current: string; next: string };
  target: string;
  headers: HeaderLists;
  query: URLSearchParams;
  body: Buffer;
};
export type Answer = { status: number; json?: unknown };
type Route = [method: string, pattern: RegExp, answer: (call: Call) => Answer];

const ROUTES: Route[] = [
  // The destination stands in the path as it is, with its own query.
  ["POST", /^\/v2\/publish\/(.+)$/, publishOne],
  ["POST", /^\/v2\/schedules\/(.+)$/, createSchedule],
  ["POST", at("batch"), publishBatch],
  ["GET", at("schedules"), (call) => ok(listSchedules(call.queue.store).map(shown(call)))],
  ["GET", at("schedules/:id"), (call) => ok(shown(call)(schedule(call)))],
  ["DELETE", at("schedules/:id"), deleteSchedule],
  ["PATCH", at("schedules/:id/pause"), (call) => setPaused(call, true)],
  ["PATCH", at("schedules/:id/resume"), (call) => setPaused(call, false)],
  ["GET", at("messages/:id"), (call) => ok(messageView(message(call)))],
  ["DELETE", at("messages/:id"), cancelOne],
  ["DELETE", at("messages"), cancelMany],
  ["GET", at("dlq"), listLetters],
  ["GET", at("dlq/:id"), (call) => ok(deadLetterView(letter(call)))],
  ["DELETE", at("dlq/:id"), deleteLetter],
  ["DELETE", at("dlq"), deleteLetters],
  ["POST", at("dlq/retry"), retryLetters],
  ["GET", at("events"), events],
  ["GET", at("keys"), (call) => ok(call.signingKeys)],
];
const UNSUPPORTED = /^\/v2\/(enqueue|queues|topics|flowControl|globalParallelism|workflows)\b/;

/** Answers one request for `path` (with its query). Throws `Refused` for all that is not served. */
export function route(method: string, path: string, call: Omit<Call, "target" | "query">): Answer {
  const query = new URLSearchParams(path.split("?").slice(1).join("?"));
  for (const [routeMethod, pattern, answer] of ROUTES) {
    const match = method === routeMethod ? pattern.exec(path) : null;
    if (match) return answer({ ...call, query, target: match[1] ?? "" });
  }
  if (UNSUPPORTED.test(path)) throw new Refused(400, "not supported by the stand-in");
  throw new Refused(404, "not found");
}

function at(path: string): RegExp {
  return new RegExp(`^/v2/${path.replace(":id", "([^/?]+)")}(?:\\?.*)?$`);
}

function ok(json?: unknown): Answer {
  return { status: 200, json };
}

function publishOne(call: Call): Answer {
  const published = publishTo(call.queue, call.headers, call.target, call.body);
  return { status: published.deduplicated ? 202 : 200, json: published };
}

function publishTo(queue: Queue, headers: HeaderLists, url: string, body: Buffer): Published {
  const settings = readSettings(headers, url);
  return publish(queue, settings, body, {
    deduplicationKey: deduplicationKey(headers, settings, body),
  });
}

type BatchItem = {
  destination?: string;
  queue?: string;
  headers?: Record<string, string>;
  body?: string;
};

function publishBatch(call: Call): Answer {
  const items = batchItems(call.body);
  const publishItem = (item: BatchItem) => {
    try {
      if (item.queue) throw new Refused(400, "queues are not supported by the stand-in");
      const headers = headerLists(item.headers ?? {});
      const body = Buffer.from(String(item.body ?? ""));
      return publishTo(call.queue, headers, String(item.destination), body);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { error: error.message };
    }
  };
  return ok(atomically(call.queue.store, () => items.map(publishItem)));
}

function batchItems(body: Buffer): BatchItem[] {
  try {
    const items: unknown = JSON.parse(body.toString());
    if (Array.isArray(items) && items.every((item) => item instanceof Object)) return items;
  } catch {
    // Refused below, as any other body that is no array.
  }
  throw new Refused(400, "the body of a batch must be a JSON array of messages");
}

function createSchedule(call: Call): Answer {
  const { queue, headers, body } = call;
  const cron = headerValue(headers, "Upstash-Cron");
  if (!cron) throw new Refused(400, "Upstash-Cron is required");
  const id = headerValue(headers, "Upstash-Schedule-Id") ?? `scd_${randomUUID()}`;
  const settings = readSettings(headers, call.target);
  const nextAt = nextRun(cron, queue.clock.now());
  const createdAt = Date.now();
  saveSchedule(queue.store, { id, cron, nextAt, paused: false, createdAt, settings, body });
  queue.wake();
  return ok({ scheduleId: id });
}

function schedule(call: Call) {
  try {
    return findSchedule(call.queue.store, decodeURIComponent(call.target));
  } catch (error) {
    throw error instanceof URIError ? new Refused(400, "malformed schedule id") : error;
  }
}

function shown(call: Call) {
  return (found: ReturnType<typeof findSchedule>) => scheduleView(found, call.queue.clock.offset());
}

function deleteSchedule(call: Call): Answer {
  removeSchedule(call.queue.store, schedule(call).id);
  return ok();
}

function setPaused(call: Call, paused: boolean): Answer {
  const found = schedule(call);
  const nextAt = nextRun(found.cron, call.queue.clock.now());
  saveSchedule(call.queue.store, { ...found, paused, nextAt });
  call.queue.wake();
  return ok();
}

function message(call: Call) {
  const found = findMessage(call.queue.store, call.target);
  if (!found) throw new Refused(404, `message ${call.target} not found`);
  return found;
}

function cancelOne(call: Call): Answer {
  cancel(call.queue, message(call));
  return ok({ cancelled: 1 });
}

function cancelMany(call: Call): Answer {
  const selects = filter(call.query);
  const chosen = listMessages(call.queue.store).filter((each) => selects(messageView(each)));
  return ok({ cancelled: chosen.filter((each) => cancel(call.queue, each)).length });
}

function letter(call: Call) {
  const found = listDeadLetters(call.queue.store).find((each) => each.dlqId === call.target);
  if (!found) throw new Refused(404, `dead letter ${call.target} not found`);
  return found;
}

function letters(call: Call) {
  const selects = filter(call.query);
  const all = listDeadLetters(call.queue.store);
  return page(
    all.filter((each) => selects(deadLetterView(each))),
    call.query,
    100,
  );
}

function listLetters(call: Call): Answer {
  const { entries, cursor } = letters(call);
  return ok({ messages: entries.map(deadLetterView), cursor });
}

function deleteLetter(call: Call): Answer {
  removeDeadLetter(call.queue.store, letter(call).dlqId);
  return ok();
}

function deleteLetters(call: Call): Answer {
  const { entries, cursor } = letters(call);
  for (const { dlqId } of entries) removeDeadLetter(call.queue.store, dlqId);
  return ok({ deleted: entries.length, cursor });
}

function retryLetters(call: Call): Answer {
  const { entries, cursor = "" } = letters(call);
  const responses = entries.map(({ dlqId, message: { settings, body } }) =>
    atomically(call.queue.store, () => {
      removeDeadLetter(call.queue.store, dlqId);
      return publish(call.queue, { ...settings, delayMs: 0, notBefore: undefined }, body);
    }),
  );
  return { status: 201, json: { cursor, responses } };
}

function events(call: Call): Answer {
  const selects = filter(call.query);
  const all = listEvents(call.queue.store).filter(({ event }) => selects(event));
  const { entries, cursor } = page(all, call.query, 1000);
  return ok({ cursor, events: entries.map(({ event }) => event) });
}
