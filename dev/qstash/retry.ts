import type { Outcome } from "./attempt.ts";
import { parseDuration } from "./duration.ts";
import { evaluateDelay } from "./expression.ts";
import { headerValue } from "./headers.ts";
import type { Message } from "./message.ts";

const ONE_DAY_MS = 86_400_000;

export function delivered(outcome: Outcome): boolean {
  return outcome.status >= 200 && outcome.status < 300;
}

/** How long to wait after this failed attempt, in milliseconds; undefined when it was the last. */
export function retryDelay(message: Message, outcome: Outcome): number | undefined {
  const refusedForGood =
    outcome.status === 489 && headerValue(outcome.header, "Upstash-NonRetryable-Error") === "true";
  if (refusedForGood || message.retried >= message.settings.retries) return undefined;

  const { retryDelay: expression } = message.settings;
  const delay =
    retryAfter(outcome) ??
    (expression === undefined ? undefined : evaluateDelay(expression, message.retried)) ??
    Math.exp(2.5 * (message.retried + 1)) * 1000;
  return Math.min(ONE_DAY_MS, Math.max(0, delay));
}

function retryAfter(outcome: Outcome): number | undefined {
  const text = headerValue(outcome.header, "Retry-After");
  if (text === undefined) return undefined;
  const delay = parseDuration(text) ?? Date.parse(text) - Date.now();
  return Number.isFinite(delay) ? delay : undefined;
}
