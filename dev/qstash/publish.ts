import { createHash, randomUUID } from "node:crypto";
import type { Clock } from "./clock.ts";
import { logEvent } from "./events.ts";
import { type HeaderLists, headerValue } from "./headers.ts";
import type { Message, Settings } from "./message.ts";
import {
  atomically,
  claimDeduplication,
  insertMessage,
  removeMessage,
  type Store,
} from "./store.ts";

const DEDUPLICATION_WINDOW_MS = 10 * 60_000;

/** `wake` says that something may have become due. */
export type Queue = { store: Store; clock: Clock; wake(): void };

export type Published = { messageId: string; url: string; deduplicated?: boolean };

/** Accepts a message, on disk when this returns, or finds the one published under the same key. */
export function publish(
  queue: Queue,
  settings: Settings,
  body: Uint8Array,
  extra: { deduplicationKey?: string; scheduleId?: string } = {},
): Published {
  const { url } = settings;
  const { store, clock } = queue;
  const now = clock.now();
  const createdAt = Date.now();
  const delayMs = Math.max(0, (settings.notBefore ?? createdAt + settings.delayMs) - createdAt);
  const message: Message = {
    id: `msg_${randomUUID().replaceAll("-", "")}`,
    settings,
    body,
    createdAt,
    notBefore: createdAt + delayMs,
    retried: 0,
    scheduleId: extra.scheduleId,
  };
  const duplicateOf = atomically(store, () => {
    const { deduplicationKey: key } = extra;
    const windowMs = DEDUPLICATION_WINDOW_MS;
    const held = key && claimDeduplication(store, { key, messageId: message.id, now, windowMs });
    if (held) return held;
    insertMessage(store, message, now + delayMs);
    logEvent(store, message, "CREATED", { nextDeliveryTime: message.notBefore });
    return undefined;
  });
  if (duplicateOf) return { messageId: duplicateOf, url, deduplicated: true };
  queue.wake();
  return { messageId: message.id, url };
}

/** The key a publish names, or the hash of its content when it asks for that; otherwise undefined. */
export function deduplicationKey(
  headers: HeaderLists,
  settings: Settings,
  body: Uint8Array,
): string | undefined {
  const id = headerValue(headers, "Upstash-Deduplication-Id");
  if (id) return `id:${id}`;
  if (headerValue(headers, "Upstash-Content-Based-Deduplication") !== "true") return undefined;
  const target = JSON.stringify([settings.url, settings.method, Object.entries(settings.header)]);
  return `content:${createHash("sha256").update(target).update(body).digest("hex")}`;
}

/** False when the message is gone already. An attempt under way is not followed by another. */
export function cancel(queue: Queue, message: Message): boolean {
  const removed = removeMessage(queue.store, message.id);
  if (removed) logEvent(queue.store, message, "CANCELED");
  return removed;
}
