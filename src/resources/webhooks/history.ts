import { and, desc, eq, gte, lte, ne, type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import type { Context } from "../../context.ts";
import { attempts, events } from "../../db/schema/index.ts";
import { type Failure, failure } from "../../errors.ts";
import { DateFilter, endOf } from "../date-filter.ts";
import { countHistory } from "./history-count.ts";
import type { AttemptRow, EventRow } from "./view.ts";

export const HistoryFilters = z.object({
  type: z.enum(["developer_callback", "workflow_result", "workflow_report", "endpoint"]).optional(),
  outcome: z.enum(["received", "failed"]).optional(),
  startDate: DateFilter.optional(),
  endDate: DateFilter.optional(),
  callId: z.string().optional(),
});

/** The filters as the database takes them. */
export type Wanted = {
  type: string | undefined;
  outcome: "received" | "failed" | undefined;
  from: Date | undefined;
  /** Inclusive. */
  to: Date | undefined;
  callId: string | undefined;
};

const ofEvent = and(eq(events.orgId, attempts.orgId), eq(events.id, attempts.eventId));

/** An attempt under way is not history yet. */
const own = (ctx: Context) =>
  and(eq(attempts.orgId, ctx.organizationId), ne(attempts.outcome, "pending"));

export async function listHistory(
  ctx: Context,
  { startDate, endDate, ...filters }: z.output<typeof HistoryFilters>,
  page: { page: number; pageSize: number },
): Promise<{ rows: { attempt: AttemptRow; event: { type: string } }[]; totalCount: number }> {
  const wanted: Wanted = {
    type: filters.type,
    outcome: filters.outcome,
    callId: filters.callId,
    from: startDate === undefined ? undefined : new Date(startDate),
    to: endDate === undefined ? undefined : endOf(endDate),
  };
  const newest = [desc(attempts.createdAt), desc(attempts.id)];
  const [rows, totalCount] = await ctx.db.read((q) => {
    // Chosen before they are joined: what the offset skips needs no event.
    const chosen = q
      .select({ id: attempts.id })
      .from(attempts)
      .where(and(own(ctx), ...conditions(wanted)))
      .orderBy(...newest)
      .limit(page.pageSize)
      .offset((page.page - 1) * page.pageSize);
    return [
      q
        .select({ attempt: attempts, event: { type: events.type } })
        .from(attempts)
        .innerJoin(events, ofEvent)
        .where(and(own(ctx), sql`${attempts.id} = any (array(${chosen}))`))
        .orderBy(...newest),
      q.execute<{ count: number }>(countHistory(ctx.organizationId, wanted)),
    ];
  });
  return { rows, totalCount: Number(totalCount.rows[0]?.count ?? 0) };
}

function conditions({ type, outcome, from, to, callId }: Wanted): (SQL | undefined)[] {
  return [
    type && sql`${attempts.type} = ${type}`,
    outcome && eq(attempts.outcome, outcome),
    from && gte(attempts.createdAt, from),
    to && lte(attempts.createdAt, to),
    callId === undefined ? undefined : eq(attempts.callId, callId),
  ].filter((condition) => typeof condition === "object");
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
