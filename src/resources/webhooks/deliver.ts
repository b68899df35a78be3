import { and, eq, sql } from "drizzle-orm";
import { apiKeys, attempts, deliveries, events } from "../../db/schema/index.ts";
import { newId } from "../../ids.ts";
import type { Outcome, TaskContext } from "../../outbox/task.ts";
import { MAX_ATTEMPTS, nextDelay } from "./schedule.ts";
import { type Answer, send } from "./send.ts";
import { signatureHeaders } from "./sign.ts";

/**
 * One attempt of one delivery. Its history row is written before the request leaves, so that an
 * attempt cut off by a crash is on record too: the next one closes it as lost.
 */
export async function deliverWebhook(ctx: TaskContext, deliveryId: string): Promise<Outcome> {
  const begun = await beginAttempt(ctx, deliveryId);
  if (!begun) return { statements: () => [], againInSeconds: null };
  const { delivery, event, key, attemptId, attempt } = begun;
  const headers = await signatureHeaders(
    await signingSecrets(ctx, key),
    { id: event.id, body: event.body },
    Date.now(),
  );
  const answer = await send(delivery.url, {
    headers: {
      "Content-Type": "application/json",
      "User-Agent": "Service-Webhooks/1",
      "X-Service-Event": event.type,
      "X-Service-Delivery": delivery.id,
      ...headers,
    },
    body: event.body,
  });
  const received = answer.status >= 200 && answer.status < 300;
  const wait = received ? null : nextDelay(attempt, Math.random(), answer.retryAfterSeconds);
  return {
    statements: (q) => finish(q, ctx, { deliveryId, attemptId, attempt, answer, received, wait }),
    againInSeconds: wait,
  };
}

type Key = Pick<
  typeof apiKeys.$inferSelect,
  "id" | "webhookSecret" | "previousWebhookSecret" | "previousWebhookSecretUntil"
>;

async function beginAttempt(ctx: TaskContext, deliveryId: string) {
  const own = and(eq(deliveries.orgId, ctx.organizationId), eq(deliveries.id, deliveryId));
  const attemptId = newId("wha", ctx.now);
  const [, [found]] = await ctx.db.write((q) => [
    q
      .update(attempts)
      .set({ outcome: "failed", error: "lost", responseBody: "lost" })
      .where(
        and(
          eq(attempts.orgId, ctx.organizationId),
          eq(attempts.deliveryId, deliveryId),
          eq(attempts.outcome, "pending"),
        ),
      ),
    q
      .select({
        delivery: deliveries,
        event: { id: events.id, type: events.type, body: events.body },
        key: {
          id: apiKeys.id,
          webhookSecret: apiKeys.webhookSecret,
          previousWebhookSecret: apiKeys.previousWebhookSecret,
          previousWebhookSecretUntil: apiKeys.previousWebhookSecretUntil,
        },
      })
      .from(deliveries)
      .innerJoin(events, and(eq(events.orgId, deliveries.orgId), eq(events.id, deliveries.eventId)))
      .innerJoin(
        apiKeys,
        and(eq(apiKeys.orgId, deliveries.orgId), eq(apiKeys.id, deliveries.keyId)),
      )
      .where(and(own, eq(deliveries.state, "pending"))),
    q.execute(sql`
      insert into ${attempts} (org_id, id, delivery_id, event_id, attempt, type, url, outcome,
        response_code, response_body, request_duration, created_at)
      select org_id, ${attemptId}, id, event_id, attempts + 1, type, url, 'pending', 0, '', 0, now()
      from ${deliveries}
      where org_id = ${ctx.organizationId} and id = ${deliveryId} and state = 'pending'`),
    q
      .update(deliveries)
      .set({ attempts: sql`${deliveries.attempts} + 1` })
      .where(and(own, eq(deliveries.state, "pending"))),
  ]);
  return found && { ...found, attemptId, attempt: found.delivery.attempts + 1 };
}

async function signingSecrets(ctx: TaskContext, key: Key): Promise<string[]> {
  const sealed = [key.webhookSecret];
  const until = key.previousWebhookSecretUntil?.getTime() ?? 0;
  if (key.previousWebhookSecret && until > ctx.now) sealed.push(key.previousWebhookSecret);
  return Promise.all(sealed.map((text) => ctx.vault.open(ctx.organizationId, key.id, text)));
}

type Finished = {
  deliveryId: string;
  attemptId: string;
  attempt: number;
  answer: Answer;
  received: boolean;
  wait: number | null;
};

function finish(
  q: Parameters<Outcome["statements"]>[0],
  ctx: TaskContext,
  { deliveryId, attemptId, attempt, answer, received, wait }: Finished,
) {
  const dead = !received && attempt >= MAX_ATTEMPTS;
  const next = wait === null ? null : sql`now() + make_interval(secs => ${wait})`;
  return [
    q
      .update(attempts)
      .set({
        outcome: received ? "received" : "failed",
        responseCode: answer.status,
        responseBody: answer.body,
        requestDuration: answer.durationMs,
        error: answer.error,
        nextAttemptAt: next,
      })
      .where(and(eq(attempts.orgId, ctx.organizationId), eq(attempts.id, attemptId))),
    q
      .update(deliveries)
      .set({
        state: received ? "delivered" : dead ? "dead" : "pending",
        nextAttemptAt: next,
      })
      .where(and(eq(deliveries.orgId, ctx.organizationId), eq(deliveries.id, deliveryId))),
  ];
}
