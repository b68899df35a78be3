import { and, count, desc, eq, ne } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { attempts, events } from "../../db/schema/index.ts";
import { type Failure, failure } from "../../errors.ts";
import type { AttemptRow, EventRow } from "./view.ts";

const ofEvent = and(eq(events.orgId, attempts.orgId), eq(events.id, attempts.eventId));

/** An attempt under way is not history yet. */
const own = (ctx: Context) =>
  and(eq(attempts.orgId, ctx.organizationId), ne(attempts.outcome, "pending"));

export async function listHistory(
  ctx: Context,
  page: { page: number; pageSize: number },
): Promise<{ rows: { attempt: AttemptRow; event: { type: string } }[]; totalCount: number }> {
  const [rows, [total]] = await ctx.db.read((q) => [
    q
      .select({ attempt: attempts, event: { type: events.type } })
      .from(attempts)
      .innerJoin(events, ofEvent)
      .where(own(ctx))
      .orderBy(desc(attempts.createdAt), desc(attempts.id))
      .limit(page.pageSize)
      .offset((page.page - 1) * page.pageSize),
    q.select({ count: count() }).from(attempts).where(own(ctx)),
  ]);
  return { rows, totalCount: total?.count ?? 0 };
}

export async function findAttempt(
  ctx: Context,
  id: string,
): Promise<{ attempt: AttemptRow; event: EventRow } | Failure> {
  const [rows] = await ctx.db.read((q) => [
    q
      .select({
        attempt: attempts,
        event: { type: events.type, body: events.body, callId: events.callId, jobId: events.jobId },
      })
      .from(attempts)
      .innerJoin(events, ofEvent)
      .where(and(own(ctx), eq(attempts.id, id))),
  ]);
  return rows[0] ?? failure("webhook_history_not_found", "There is no such history record");
}
