import { DatabaseSync } from "node:sqlite";
import type { Message } from "./message.ts";

export type Store = DatabaseSync;

type MessageRow = { id: string; message: string; body: Uint8Array };

/**
 * Opens the database file (or `":memory:"`). A message found `active` was being delivered when the
 * process died: its outcome is unknown, so it waits for delivery again.
 */
export function openStore(database: string): Store {
  const store = new DatabaseSync(database);
  store.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS messages (
      seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL,
      active INTEGER NOT NULL DEFAULT 0, due_at INTEGER NOT NULL, flow_key TEXT,
      message TEXT NOT NULL, body BLOB NOT NULL);
    CREATE INDEX IF NOT EXISTS messages_due ON messages (active, due_at, seq, flow_key);
    CREATE TABLE IF NOT EXISTS deduplications (
      key TEXT PRIMARY KEY, message_id TEXT NOT NULL, expires_at INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS schedules (
      id TEXT PRIMARY KEY, cron TEXT NOT NULL, next_at INTEGER NOT NULL, paused INTEGER NOT NULL,
      created_at INTEGER NOT NULL, last_at INTEGER, settings TEXT NOT NULL, body BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS dead_letters (
      seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL,
      message TEXT NOT NULL, body BLOB NOT NULL, response TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY AUTOINCREMENT, event TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS clock (offset_ms INTEGER NOT NULL);
    UPDATE messages SET active = 0 WHERE active = 1;
  `);
  return store;
}

/** Runs `work` in one transaction; inside another it becomes part of that one. */
export function atomically<T>(store: Store, work: () => T): T {
  if (store.isTransaction) return work();
  store.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    store.exec("COMMIT");
    return result;
  } catch (error) {
    store.exec("ROLLBACK");
    throw error;
  }
}

/** A message without its body, as it is kept beside the body. */
export function packed({ body: _, ...rest }: Message): string {
  return JSON.stringify(rest);
}

export function unpacked(row: { message: string; body: Uint8Array }): Message {
  return { ...(JSON.parse(row.message) as Omit<Message, "body">), body: row.body };
}

export function insertMessage(store: Store, message: Message, dueAt: number): void {
  store
    .prepare("INSERT INTO messages (id, due_at, flow_key, message, body) VALUES (?, ?, ?, ?, ?)")
    .run(
      message.id,
      Math.round(dueAt),
      message.settings.flow?.key ?? null,
      packed(message),
      message.body,
    );
}

export function findMessage(store: Store, id: string): Message | undefined {
  const row = store.prepare("SELECT * FROM messages WHERE id = ?").get(id);
  return row && unpacked(row as MessageRow);
}

export function listMessages(store: Store): Message[] {
  const rows = store.prepare("SELECT * FROM messages ORDER BY seq").all();
  return rows.map((row) => unpacked(row as MessageRow));
}

/** The message longest due at `now` that is not being delivered and not in one of `blockedFlows`. */
export function firstDue(store: Store, now: number, blockedFlows: string[]): Message | undefined {
  const row = store
    .prepare(
      `SELECT * FROM messages WHERE active = 0 AND due_at <= ?
         AND (flow_key IS NULL OR flow_key NOT IN (SELECT value FROM json_each(?)))
       ORDER BY due_at, seq LIMIT 1`,
    )
    .get(now, JSON.stringify(blockedFlows));
  return row && unpacked(row as MessageRow);
}

/** When the next message or schedule is due after `after`; undefined when none is. */
export function nextDueAt(store: Store, after: number): number | undefined {
  const row = store
    .prepare(
      `SELECT min(at) AS at FROM (
         SELECT min(due_at) AS at FROM messages WHERE active = 0 AND due_at > ?1
         UNION ALL SELECT min(next_at) FROM schedules WHERE paused = 0 AND next_at > ?1)`,
    )
    .get(after) as { at: number | null };
  return row.at ?? undefined;
}

export function setActive(store: Store, id: string): void {
  store.prepare("UPDATE messages SET active = 1 WHERE id = ?").run(id);
}

/** Puts a message back to wait, as it is now. */
export function postpone(store: Store, message: Message, dueAt: number): void {
  store
    .prepare("UPDATE messages SET active = 0, due_at = ?, message = ? WHERE id = ?")
    .run(Math.round(dueAt), packed(message), message.id);
}

/** False when there was none. */
export function removeMessage(store: Store, id: string): boolean {
  return store.prepare("DELETE FROM messages WHERE id = ?").run(id).changes > 0;
}

/** The message that already holds this key; otherwise `messageId` holds it from now on. */
export function claimDeduplication(
  store: Store,
  claim: { key: string; messageId: string; now: number; windowMs: number },
): string | undefined {
  store.prepare("DELETE FROM deduplications WHERE expires_at <= ?").run(claim.now);
  const held = store
    .prepare("SELECT message_id AS id FROM deduplications WHERE key = ?")
    .get(claim.key) as { id: string } | undefined;
  if (held) return held.id;
  store
    .prepare("INSERT INTO deduplications VALUES (?, ?, ?)")
    .run(claim.key, claim.messageId, claim.now + claim.windowMs);
  return undefined;
}
