import type { Outcome } from "./attempt.ts";
import { bury } from "./dead-letters.ts";
import { logEvent } from "./events.ts";
import { canonical } from "./headers.ts";
import type { Message, Settings } from "./message.ts";
import { publish, type Queue } from "./publish.ts";
import { delivered, retryDelay } from "./retry.ts";
import { atomically, findMessage, postpone, removeMessage } from "./store.ts";

/**
 * Writes down what became of one attempt: delivered, to be tried again, or a dead letter, together
 * with the callbacks it causes. All of it or nothing, so that no message is lost in between.
 */
export function settle(queue: Queue, message: Message, outcome: Outcome): void {
  atomically(queue.store, () => {
    const cancelled = findMessage(queue.store, message.id) === undefined;
    if (cancelled) return;
    if (delivered(outcome)) settleDelivered(queue, message, outcome);
    else settleFailed(queue, message, outcome);
  });
}

function settleDelivered(queue: Queue, message: Message, outcome: Outcome): void {
  removeMessage(queue.store, message.id);
  logEvent(queue.store, message, "DELIVERED", { responseStatus: outcome.status });
  report(queue, message.settings.callback, message, outcome);
}

function settleFailed(queue: Queue, message: Message, outcome: Outcome): void {
  const { store, clock } = queue;
  logEvent(store, message, "ERROR", {
    responseStatus: outcome.status,
    error: outcome.error ?? `status ${outcome.status}`,
  });
  report(queue, message.settings.callback, message, outcome);
  const delay = retryDelay(message, outcome);
  if (delay === undefined) {
    removeMessage(store, message.id);
    logEvent(store, message, "FAILED", { responseStatus: outcome.status });
    const dlqId = bury(store, message, outcome);
    report(queue, message.settings.failureCallback, message, outcome, dlqId);
    return;
  }
  const next = { ...message, retried: message.retried + 1 };
  postpone(store, next, clock.now() + delay);
  logEvent(store, next, "RETRY", { nextDeliveryTime: Math.round(Date.now() + delay) });
}

function report(
  queue: Queue,
  callback: Settings | undefined,
  message: Message,
  outcome: Outcome,
  dlqId?: string,
): void {
  if (!callback) return;
  const { settings } = message;
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
  const body = {
    status: outcome.status,
    header: canonical(outcome.header),
    body: base64(outcome.body),
    retried: message.retried,
    maxRetries: settings.retries,
    dlqId,
    sourceMessageId: message.id,
    url: settings.url,
    method: settings.method,
    sourceHeader: canonical(settings.header),
    sourceBody: base64(message.body),
    notBefore: message.notBefore,
    createdAt: message.createdAt,
    scheduleId: message.scheduleId,
  };
  publish(queue, callback, Buffer.from(JSON.stringify(body)));
}
