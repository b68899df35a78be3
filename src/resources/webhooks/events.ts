import { type SQL, sql } from "drizzle-orm";
import { apiKeys, deliveries, events, outbox } from "../../db/schema/index.ts";
import type { statements } from "../../db/statements.ts";
import { newId } from "../../ids.ts";
import type { Due } from "../../outbox/publish.ts";

export type EventType = "call.initiated" | "call.completed" | "call.failed";

/** An event with the ids of all its rows, fixed before the first try to write it: writing is repeatable. */
export type NewEvent = {
  id: string;
  deliveryId: string;
  outboxId: string;
  type: EventType;
  callId: string;
  /** The key whose callback gets it; null when nobody is to be told. */
  keyId: string | null;
  /** Ms since the epoch. */
  at: number;
  data: Record<string, unknown>;
};

export function newEvent(
  type: EventType,
  about: { callId: string; keyId: string | null },
  data: Record<string, unknown>,
  now: number,
): NewEvent {
  return {
    id: newId("evt", now),
    deliveryId: newId("whd", now),
    outboxId: newId("obx", now),
    type,
    ...about,
    at: now,
    data,
  };
}

/**
 * The statements that record an event and its delivery, for the batch of its cause. The last one
 * returns the outbox rows to publish after the commit; see `dueOf`.
 */
export function recordEvent(q: typeof statements, organizationId: string, event: NewEvent) {
  const at = new Date(event.at).toISOString();
  const body = JSON.stringify({
    id: event.id,
    type: event.type,
    timestamp: at,
    data: event.data,
  });
  return [
    q
      .insert(events)
      .values({
        orgId: organizationId,
        id: event.id,
        type: event.type,
        callId: event.callId,
        body,
        createdAt: new Date(event.at),
      })
      .onConflictDoNothing(),
    q.execute(toCallback(organizationId, event, at)),
    q.execute<{ org_id: string; id: string; task: string; gen: number }>(sql`
      insert into ${outbox} (org_id, id, task, subject_id, gen, due_at, created_at)
      select org_id, ${event.outboxId}, 'deliver-webhook', id, 1, ${at}, ${at}
      from ${deliveries} where org_id = ${organizationId} and id = ${event.deliveryId}
      on conflict do nothing
      returning org_id, id, task, gen`),
  ] as const;
}

export function dueOf(result: {
  rows: { org_id: string; id: string; task: string; gen: number }[];
}): Due[] {
  return result.rows.map(({ org_id, ...row }) => ({ ...row, orgId: org_id, delaySeconds: 0 }));
}

/** Only when the event was really recorded, and only to a key that has a callback. */
function toCallback(organizationId: string, event: NewEvent, at: string): SQL {
  return sql`
    insert into ${deliveries}
      (org_id, id, event_id, type, url, key_id, state, attempts, next_attempt_at, created_at)
    select k.org_id, ${event.deliveryId}, e.id, 'developer_callback', k.callback_url, k.id,
      'pending', 0, ${at}, ${at}
    from ${apiKeys} k join ${events} e on e.org_id = k.org_id and e.id = ${event.id}
    where k.org_id = ${organizationId} and k.id = ${event.keyId} and k.callback_url is not null
    on conflict do nothing`;
}
