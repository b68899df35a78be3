import { and, eq, or, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { apiKeys, attempts, deliveries, endpoints, events } from "../../db/schema/index.ts";
import type { statements } from "../../db/statements.ts";
import { newId } from "../../ids.ts";
import type { TaskContext } from "../../outbox/task.ts";
import { FAILING_DAYS } from "./endpoint.ts";
import { MAX_ATTEMPTS } from "./schedule.ts";
import type { Answer } from "./send.ts";

type Key = Pick<
  typeof apiKeys.$inferSelect,
  "id" | "webhookSecret" | "previousWebhookSecret" | "previousWebhookSecretUntil"
>;

export type Begun = {
  attemptId: string;
  /** As it is with this attempt counted. */
  delivery: typeof deliveries.$inferSelect;
  event: { id: string; type: string; body: string };
  /** One of the two signs. */
  key: Key | null;
  endpoint: { id: string; webhookSecret: string } | null;
};

type Ended = {
  answer: Answer;
  received: boolean;
  gone: boolean;
  /** Seconds until the next attempt; null when there is none. */
  wait: number | null;
};

/**
 * Counts a new attempt and puts it on record, and closes the one before as lost if it never ended.
 * Nothing begins when the delivery is over, has had its ten attempts, or its endpoint is no more.
 */
export async function beginAttempt(
  ctx: TaskContext,
  deliveryId: string,
): Promise<Begun | undefined> {
  const attemptId = newId("wha", ctx.now);
  const own = and(eq(deliveries.orgId, ctx.organizationId), eq(deliveries.id, deliveryId));
  const pending = and(own, eq(deliveries.state, "pending"));
  const [, , , , [found]] = await ctx.db.write((q) => [
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
      .update(deliveries)
      .set({ state: "dead", nextAttemptAt: null })
      .where(and(pending, or(sql`attempts >= ${MAX_ATTEMPTS}`, isUnwanted))),
    q
      .update(deliveries)
      .set({ attempts: sql`${deliveries.attempts} + 1` })
      .where(pending),
    q.execute(sql`
      insert into ${attempts} (org_id, id, delivery_id, event_id, call_id, attempt, type, url,
        outcome, response_code, response_body, request_duration, created_at)
      select d.org_id, ${attemptId}, d.id, d.event_id, e.call_id, d.attempts, d.type, d.url,
        'pending', 0, '', 0, clock_timestamp()
      from ${deliveries} d join ${events} e on e.org_id = d.org_id and e.id = d.event_id
      where d.org_id = ${ctx.organizationId} and d.id = ${deliveryId} and d.state = 'pending'`),
    signedBy(q).where(pending),
  ]);
  return found && { ...found, attemptId };
}

/** The customer deleted the endpoint, or it disabled itself; an explicit resend goes all the same. */
const isUnwanted: SQL = sql`exists (
  select from ${endpoints} e
  where e.org_id = ${deliveries.orgId} and e.id = ${deliveries.endpointId}
    and (e.deleted_at is not null
      or (e.disabled_at is not null and ${deliveries.resendOf} is null)))`;

function signedBy(q: typeof statements) {
  return q
    .select({
      delivery: deliveries,
      event: { id: events.id, type: events.type, body: events.body },
      key: {
        id: apiKeys.id,
        webhookSecret: apiKeys.webhookSecret,
        previousWebhookSecret: apiKeys.previousWebhookSecret,
        previousWebhookSecretUntil: apiKeys.previousWebhookSecretUntil,
      },
      endpoint: { id: endpoints.id, webhookSecret: endpoints.webhookSecret },
    })
    .from(deliveries)
    .innerJoin(events, and(eq(events.orgId, deliveries.orgId), eq(events.id, deliveries.eventId)))
    .leftJoin(apiKeys, and(eq(apiKeys.orgId, deliveries.orgId), eq(apiKeys.id, deliveries.keyId)))
    .leftJoin(
      endpoints,
      and(eq(endpoints.orgId, deliveries.orgId), eq(endpoints.id, deliveries.endpointId)),
    );
}

/**
 * Records how an attempt ended. One that was closed as lost meanwhile tells the truth after all; but
 * only a success of it may still change the delivery, which belongs to the attempt after it.
 */
export function finishAttempt(
  q: typeof statements,
  ctx: TaskContext,
  { attemptId, delivery }: Begun,
  { answer, received, gone, wait }: Ended,
): BatchItem<"pg">[] {
  const next = wait === null ? null : sql`now() + make_interval(secs => ${wait})`;
  const own = and(eq(deliveries.orgId, ctx.organizationId), eq(deliveries.id, delivery.id));
  const ended = [
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
      .where(
        and(
          eq(attempts.orgId, ctx.organizationId),
          eq(attempts.id, attemptId),
          or(eq(attempts.outcome, "pending"), eq(attempts.error, "lost")),
        ),
      ),
    q
      .update(deliveries)
      .set({
        state: received ? "delivered" : wait === null ? "dead" : "pending",
        nextAttemptAt: next,
      })
      .where(
        received
          ? own
          : and(own, eq(deliveries.state, "pending"), eq(deliveries.attempts, delivery.attempts)),
      ),
  ];
  if (!delivery.endpointId) return ended;
  return [...ended, judgeEndpoint(q, ctx.organizationId, delivery.endpointId, { received, gone })];
}

/** A success clears the endpoint's record; 410, or days of nothing but failure, disable it. */
function judgeEndpoint(
  q: typeof statements,
  organizationId: string,
  id: string,
  { received, gone }: { received: boolean; gone: boolean },
) {
  const own = and(eq(endpoints.orgId, organizationId), eq(endpoints.id, id));
  if (received) return q.update(endpoints).set({ failingSince: null }).where(own);
  const isOver = sql`(${gone} or failing_since < now() - make_interval(days => ${FAILING_DAYS}))`;
  return q
    .update(endpoints)
    .set({
      failingSince: sql`coalesce(failing_since, now())`,
      disabledAt: sql`coalesce(disabled_at, case when ${isOver} then now() end)`,
      disabledReason: sql`coalesce(disabled_reason,
        case when ${isOver} then ${gone ? "gone" : "failing"} end)`,
    })
    .where(own);
}
