import { type SQL, sql } from "drizzle-orm";
import { apiKeys, deliveries, endpoints, events, outbox } from "../../db/schema/index.ts";
import type { statements } from "../../db/statements.ts";
import { newId } from "../../ids.ts";
import type { Due } from "../../outbox/publish.ts";

/** What an endpoint can ask for. */
export const eventTypes = [
  "call.initiated",
  "call.completed",
  "call.failed",
  "call.analyzed",
] as const;
export type EventType = (typeof eventTypes)[number];

/** These only registered endpoints get. */
const NOT_FOR_CALLBACKS: readonly EventType[] = ["call.analyzed"];

/**
 * An event with its ids, fixed before the first try to write it: writing is repeatable. The ids of
 * what endpoints get are made of it.
 */
export type NewEvent = {
  id: string;
  deliveryId: string;
  type: EventType;
  callId: string;
  /** The key that placed the call; its callback gets it. Null when nobody at all is to be told. */
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
    type,
    ...about,
    at: now,
    data,
  };
}

/**
 * The statements that record an event and its deliveries, for the batch of its cause. The last one
 * returns the outbox rows to publish after the commit; see `dueOf`.
 */
export function recordEvent(q: typeof statements, organizationId: string, event: NewEvent) {
  const at = new Date(event.at).toISOString();
  return [
    q
      .insert(events)
      .values({
        orgId: organizationId,
        id: event.id,
        type: event.type,
        callId: event.callId,
        body: bodyOf(event.id, event.type, at, event.data),
        createdAt: new Date(event.at),
      })
      .onConflictDoNothing(),
    q.execute(toCallback(organizationId, event, at)),
    q.execute(toEndpoints(organizationId, event, at)),
    q.execute<OutboxRow>(toOutbox(sql`event_id = ${event.id}`, organizationId, at)),
  ] as const;
}

/** The very text that is signed and sent. */
export function bodyOf(
  id: string,
  type: string,
  timestamp: string,
  data: Record<string, unknown>,
): string {
  return JSON.stringify({ id, type, timestamp, data });
}

export type OutboxRow = { org_id: string; id: string; task: string; gen: number; lane: string };

export function dueOf(result: { rows: OutboxRow[] }): Due[] {
  return result.rows.map(({ org_id, ...row }) => ({ ...row, orgId: org_id, delaySeconds: 0 }));
}

/**
 * The outbox rows of some deliveries, each with its own id in the delivery's. Their lane is the
 * destination's host: a slow or dead one holds back nobody else.
 */
export function toOutbox(which: SQL, organizationId: string, at: string): SQL {
  return sql`
    insert into ${outbox} (org_id, id, task, subject_id, lane, gen, due_at, created_at)
    select org_id, 'obx' || substr(id, 4), 'deliver-webhook', id,
      substring(url from '^[a-z]+://([^/?#]+)'), 1, ${at}, ${at}
    from ${deliveries} where org_id = ${organizationId} and ${which}
    on conflict do nothing
    returning org_id, id, task, gen, lane`;
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
      and not ${NOT_FOR_CALLBACKS.includes(event.type)}
    on conflict do nothing`;
}

/** To every endpoint that wants this type. The id is made of the event's and the endpoint's. */
function toEndpoints(organizationId: string, event: NewEvent, at: string): SQL {
  return sql`
    insert into ${deliveries}
      (org_id, id, event_id, type, url, endpoint_id, state, attempts, next_attempt_at, created_at)
    select w.org_id,
      'whd_' || substr(e.id, 5, 10) || upper(substr(md5(e.id || w.id), 1, 16)),
      e.id, 'endpoint', w.url, w.id, 'pending', 0, ${at}, ${at}
    from ${endpoints} w join ${events} e on e.org_id = w.org_id and e.id = ${event.id}
    where w.org_id = ${organizationId} and w.deleted_at is null and w.disabled_at is null
      and (w.events is null or ${event.type} = any (w.events))
      and ${event.keyId}::text is not null
    on conflict do nothing`;
}
