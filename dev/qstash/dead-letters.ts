import { randomUUID } from "node:crypto";
import type { Outcome } from "./attempt.ts";
import { canonical } from "./headers.ts";
import { bodyView, type Message, messageView } from "./message.ts";
import { packed, type Store, unpacked } from "./store.ts";

type Row = { seq: number; id: string; message: string; body: Uint8Array; response: string };
type Answer = { responseStatus: number; responseHeader: Record<string, string[]> };
export type DeadLetter = { seq: number; dlqId: string; message: Message; response: Answer };

/** Keeps a message that will not be tried again; returns its id among the dead letters. */
export function bury(store: Store, message: Message, outcome: Outcome): string {
  const dlqId = `${Date.now()}-${randomUUID()}`;
  const response = {
    responseStatus: outcome.status,
    responseHeader: canonical(outcome.header),
    ...(outcome.error ? { responseBody: outcome.error } : bodyView("responseBody", outcome.body)),
  };
  store
    .prepare("INSERT INTO dead_letters (id, message, body, response) VALUES (?, ?, ?, ?)")
    .run(dlqId, packed(message), message.body, JSON.stringify(response));
  return dlqId;
}

/** Newest first. */
export function listDeadLetters(store: Store): DeadLetter[] {
  const rows = store.prepare("SELECT * FROM dead_letters ORDER BY seq DESC").all() as Row[];
  return rows.map((row) => ({
    seq: row.seq,
    dlqId: row.id,
    message: unpacked(row),
    response: JSON.parse(row.response) as Answer,
  }));
}

export function removeDeadLetter(store: Store, dlqId: string): void {
  store.prepare("DELETE FROM dead_letters WHERE id = ?").run(dlqId);
}

export function deadLetterView(letter: DeadLetter) {
  return { ...messageView(letter.message), dlqId: letter.dlqId, ...letter.response };
}
