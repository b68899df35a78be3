import { sql } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { deliveries, endpoints, events } from "../../db/schema/index.ts";
import type { Failure } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { publishDue } from "../../outbox/publish.ts";
import { noEndpoint } from "./endpoint.ts";
import { bodyOf, dueOf, type OutboxRow, toOutbox } from "./events.ts";

const TYPE = "webhook.test";

/** Sends an event of its own to one endpoint, also to one that is disabled. */
export async function testEndpoint(
  ctx: Context,
  endpointId: string,
): Promise<{ deliveryId: string; eventId: string } | Failure> {
  const [eventId, deliveryId] = [newId("evt", ctx.now), newId("whd", ctx.now)];
  const at = new Date(ctx.now).toISOString();
  const { organizationId } = ctx;
  const [, , due] = await ctx.db.write((q) => [
    q.execute(sql`
      insert into ${events} (org_id, id, type, body, created_at)
      select org_id, ${eventId}, ${TYPE}, ${bodyOf(eventId, TYPE, at, { endpointId })}, ${at}
      from ${endpoints}
      where org_id = ${organizationId} and id = ${endpointId} and deleted_at is null`),
    // Marked as sent on demand, so that it goes to a disabled endpoint too.
    q.execute(sql`
      insert into ${deliveries} (org_id, id, event_id, type, url, endpoint_id, resend_of, state,
        attempts, next_attempt_at, created_at)
      select w.org_id, ${deliveryId}, e.id, 'endpoint', w.url, w.id, ${deliveryId}, 'pending',
        0, ${at}, ${at}
      from ${endpoints} w join ${events} e on e.org_id = w.org_id and e.id = ${eventId}
      where w.org_id = ${organizationId} and w.id = ${endpointId}`),
    q.execute<OutboxRow>(toOutbox(sql`id = ${deliveryId}`, organizationId, at)),
  ]);
  if (due.rows.length === 0) return noEndpoint();
  ctx.later(publishDue(ctx.queue, dueOf(due)));
  return { deliveryId, eventId };
}
