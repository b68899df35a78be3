import { type SQL, sql } from "drizzle-orm";
import { DatabaseError } from "./failure.ts";
import type { statements } from "./statements.ts";

/**
 * Two statements for the front of a batch: one request of the organization at a time passes the
 * first, and the second refuses the batch when `counted` has reached the ceiling. So the ceiling
 * holds exactly, however many ask at once.
 */
export function assertBelowCeiling(
  q: typeof statements,
  ceiling: { organizationId: string; name: string; counted: SQL; most: number },
) {
  const { organizationId, name, counted, most } = ceiling;
  return [
    q.execute(
      sql`select pg_advisory_xact_lock(hashtextextended(${`${name} ${organizationId}`}, 0))`,
    ),
    q.execute(sql`select refuse_at_ceiling((${counted}), ${most}, ${name})`),
  ] as const;
}

export function isAtCeiling(error: unknown, name: string): boolean {
  return error instanceof DatabaseError && error.code === "SV001" && error.constraint === name;
}
