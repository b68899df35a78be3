import type { Outcome, TaskContext } from "../../outbox/task.ts";
import { type Begun, beginAttempt, finishAttempt } from "./attempt.ts";
import { nextDelay } from "./schedule.ts";
import { send } from "./send.ts";
import { signatureHeaders } from "./sign.ts";

/** The receiver says that it will never take anything again. */
const GONE = 410;

/**
 * One attempt of one delivery. Its history row is written before the request leaves, so that an
 * attempt cut off by a crash is on record too: the next one closes it as lost.
 */
export async function deliverWebhook(ctx: TaskContext, deliveryId: string): Promise<Outcome> {
  const begun = await beginAttempt(ctx, deliveryId);
  if (!begun) return { statements: () => [], againInSeconds: null };
  const { delivery, event } = begun;
  const signed = await signatureHeaders(await signingSecrets(ctx, begun), event, Date.now());
  const answer = await send(
    delivery.url,
    {
      headers: {
        "Content-Type": "application/json",
        "User-Agent": "Service-Webhooks/1",
        "X-Service-Event": event.type,
        "X-Service-Delivery": delivery.id,
        ...signed,
      },
      body: event.body,
    },
    ctx.options,
  );
  const received = answer.status >= 200 && answer.status < 300;
  const gone = answer.status === GONE && delivery.endpointId !== null;
  const wait =
    received || gone ? null : nextDelay(delivery.attempts, Math.random(), answer.retryAfterSeconds);
  return {
    statements: (q) => finishAttempt(q, ctx, begun, { answer, received, gone, wait }),
    againInSeconds: wait,
  };
}

/** The newest secret and, of a key, for a day also the one before. */
function signingSecrets(ctx: TaskContext, { key, endpoint }: Begun): Promise<string[]> {
  const open = (row: string, sealed: string) => ctx.vault.open(ctx.organizationId, row, sealed);
  if (endpoint) return Promise.all([open(endpoint.id, endpoint.webhookSecret)]);
  if (!key) throw new Error("a delivery has nobody whose secret signs it");
  const sealed = [key.webhookSecret];
  const until = key.previousWebhookSecretUntil?.getTime() ?? 0;
  if (key.previousWebhookSecret && until > ctx.now) sealed.push(key.previousWebhookSecret);
  return Promise.all(sealed.map((text) => open(key.id, text)));
}
