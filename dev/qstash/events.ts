import { type Message, messageView } from "./message.ts";
import type { Store } from "./store.ts";

export type EventState =
  | "CREATED"
  | "ACTIVE"
  | "RETRY"
  | "ERROR"
  | "DELIVERED"
  | "FAILED"
  | "CANCELED";

export type QueueEvent = ReturnType<typeof messageView> & {
  time: number;
  state: EventState;
  error?: string;
  responseStatus?: number;
  nextDeliveryTime?: number;
};

type Row = { seq: number; event: string };

/** A development database lives for months; older events are dropped. */
const KEPT_EVENTS = 10_000;

export function logEvent(
  store: Store,
  message: Message,
  state: EventState,
  details: Partial<QueueEvent> = {},
): void {
  const body = Buffer.from(message.body).toString("base64");
  const event = { ...messageView(message), body, time: Date.now(), state, ...details };
  const { lastInsertRowid } = store
    .prepare("INSERT INTO events (event) VALUES (?)")
    .run(JSON.stringify(event));
  store.prepare("DELETE FROM events WHERE seq <= ?").run(Number(lastInsertRowid) - KEPT_EVENTS);
}

/** Newest first. */
export function listEvents(store: Store): { seq: number; event: QueueEvent }[] {
  const rows = store.prepare("SELECT seq, event FROM events ORDER BY seq DESC").all();
  return (rows as Row[]).map(({ seq, event }) => ({
    seq,
    event: JSON.parse(event) as QueueEvent,
  }));
}
