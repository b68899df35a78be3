import { type SQL, sql } from "drizzle-orm";
import { attemptCounts, attempts } from "../../db/schema/index.ts";
import type { Wanted } from "./history.ts";

const DAY_MS = 86_400_000;
/** A day later may need five digits for its year, which Postgres reads otherwise. */
const LAST = Date.UTC(9999, 0, 1);

/**
 * How many records a list has, exactly: whole days from the counts that a trigger keeps, and only
 * the rest of the first and the last day from the records themselves.
 */
export function countHistory(organizationId: string, wanted: Wanted): SQL {
  const { callId } = wanted;
  const from = wanted.from && atMost(LAST, wanted.from);
  const to = wanted.to && atMost(LAST, wanted.to);
  const first = from && Math.ceil(from.getTime() / DAY_MS) * DAY_MS;
  const afterLast = to && Math.floor((to.getTime() + 1) / DAY_MS) * DAY_MS;
  const hasWholeDays = first === undefined || afterLast === undefined || first < afterLast;
  if (callId !== undefined || !hasWholeDays) {
    return sql`select ${recordsBetween(organizationId, wanted, from, to && after(to))} as count`;
  }
  const parts = [daysBetween(organizationId, wanted, first, afterLast)];
  if (from && first !== undefined)
    parts.push(recordsBetween(organizationId, wanted, from, new Date(first)));
  if (to && afterLast !== undefined) {
    parts.push(recordsBetween(organizationId, wanted, new Date(afterLast), after(to)));
  }
  return sql`select ${sql.join(parts, sql` + `)} as count`;
}

const after = (date: Date) => new Date(date.getTime() + 1);
const atMost = (last: number, date: Date) => new Date(Math.min(last, date.getTime()));

function daysBetween(
  organizationId: string,
  { type, outcome }: Wanted,
  first: number | undefined,
  afterLast: number | undefined,
): SQL {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  return sql`(select coalesce(sum(count), 0) from ${attemptCounts}
    where org_id = ${organizationId}
      ${type ? sql`and type = ${type}` : sql``} ${outcome ? sql`and outcome = ${outcome}` : sql``}
      ${first === undefined ? sql`` : sql`and day >= ${day(first)}`}
      ${afterLast === undefined ? sql`` : sql`and day < ${day(afterLast)}`})`;
}

function recordsBetween(
  organizationId: string,
  { type, outcome, callId }: Wanted,
  from: Date | undefined,
  before: Date | undefined,
): SQL {
  return sql`(select count(*) from ${attempts}
    where org_id = ${organizationId} and outcome <> 'pending'
      ${type ? sql`and type = ${type}` : sql``} ${outcome ? sql`and outcome = ${outcome}` : sql``}
      ${callId === undefined ? sql`` : sql`and call_id = ${callId}`}
      ${from ? sql`and created_at >= ${from.toISOString()}` : sql``}
      ${before ? sql`and created_at < ${before.toISOString()}` : sql``})`;
}
