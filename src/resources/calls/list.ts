import { and, count, desc, eq, gte, lte, type SQL } from "drizzle-orm";
import * as z from "zod";
import type { Context } from "../../context.ts";
import { calls } from "../../db/schema/index.ts";
import { DateFilter, endOf } from "../date-filter.ts";
import type { CallRow } from "./view.ts";

export const CallFilters = z.object({
  type: z.enum(["web", "phone"]).optional(),
  status: z
    .string()
    .regex(/^[0-7]$/, "must be a status from 0 to 7")
    .transform(Number)
    .optional(),
  assistantId: z.string().optional(),
  startDate: DateFilter.optional(),
  endDate: DateFilter.optional(),
});

export async function listCalls(
  ctx: Context,
  filters: z.output<typeof CallFilters>,
  page: { page: number; pageSize: number },
): Promise<{ rows: CallRow[]; totalCount: number }> {
  const wanted = and(eq(calls.orgId, ctx.organizationId), ...conditions(filters));
  const [rows, [total]] = await ctx.db.read((q) => [
    q
      .select()
      .from(calls)
      .where(wanted)
      .orderBy(desc(calls.createdAt), desc(calls.id))
      .limit(page.pageSize)
      .offset((page.page - 1) * page.pageSize),
    q.select({ count: count() }).from(calls).where(wanted),
  ]);
  return { rows, totalCount: total?.count ?? 0 };
}

function conditions(filters: z.output<typeof CallFilters>): (SQL | undefined)[] {
  const { type, status, assistantId, startDate, endDate } = filters;
  return [
    type && eq(calls.type, type),
    status === undefined ? undefined : eq(calls.status, status),
    assistantId === undefined ? undefined : eq(calls.assistantId, assistantId),
    startDate === undefined ? undefined : gte(calls.createdAt, new Date(startDate)),
    endDate === undefined ? undefined : lte(calls.createdAt, endOf(endDate)),
  ];
}
