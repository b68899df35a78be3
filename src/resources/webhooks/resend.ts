import { sql } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { attempts, deliveries, endpoints, events } from "../../db/schema/index.ts";
import { type Failure, failure } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { publishDue } from "../../outbox/publish.ts";
import { dueOf, type OutboxRow, toOutbox } from "./events.ts";

/**
 * Delivers the event of a history record once more to the same place: a delivery of its own, with
 * attempts of its own. Not when the endpoint was deleted, or the event's text is no longer kept.
 */
export async function resend(
  ctx: Context,
  attemptId: string,
): Promise<{ deliveryId: string; eventId: string } | Failure> {
  const deliveryId = newId("whd", ctx.now);
  const at = new Date(ctx.now).toISOString();
  const { organizationId } = ctx;
  const [created, due] = await ctx.db.write((q) => [
    q.execute<{ event_id: string }>(sql`
      insert into ${deliveries} (org_id, id, event_id, type, url, key_id, endpoint_id, resend_of,
        state, attempts, next_attempt_at, created_at)
      select d.org_id, ${deliveryId}, d.event_id, d.type, d.url, d.key_id, d.endpoint_id, d.id,
        'pending', 0, ${at}, ${at}
      from ${attempts} a
      join ${deliveries} d on d.org_id = a.org_id and d.id = a.delivery_id
      join ${events} e on e.org_id = d.org_id and e.id = d.event_id
      left join ${endpoints} w on w.org_id = d.org_id and w.id = d.endpoint_id
      where a.org_id = ${organizationId} and a.id = ${attemptId} and a.outcome <> 'pending'
        and e.body <> '' and w.deleted_at is null
      returning event_id`),
    q.execute<OutboxRow>(toOutbox(sql`id = ${deliveryId}`, organizationId, at)),
  ]);
  const [row] = created.rows;
  if (!row) {
    return failure("webhook_history_not_found", "There is no such history record to send again");
  }
  ctx.later(publishDue(ctx.queue, dueOf(due)));
  return { deliveryId, eventId: row.event_id };
}
