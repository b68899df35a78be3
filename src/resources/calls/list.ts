import { and, count, desc, eq, gte, lte, type SQL } from "drizzle-orm";
import * as z from "zod";
import type { Context } from "../../context.ts";
import { calls } from "../../db/schema/index.ts";
import type { CallRow } from "./view.ts";

/** Beyond these years ISO 8601 and Postgres write differently; an offset may lead out of them. */
const instant = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })])
  .refine((text) => /^(?!0000)\d{4}-/.test(new Date(text).toISOString()), {
    error: "must be between the years 1 and 9999",
  });

export const CallFilters = z.object({
  type: z.enum(["web", "phone"]).optional(),
  status: z
    .string()
    .regex(/^[0-7]$/, "must be a status from 0 to 7")
    .transform(Number)
    .optional(),
  assistantId: z.string().optional(),
  startDate: instant.optional(),
  endDate: instant.optional(),
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

/** A date without a time means its whole day. */
function endOf(text: string): Date {
  return new Date(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T23:59:59.999Z` : text);
}
