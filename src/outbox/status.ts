import { sql } from "drizzle-orm";
import { deliveries, marks, organizations, outbox } from "../db/schema/index.ts";
import type { System } from "../db/system.ts";
import { SWEEP_MARK } from "./sweep.ts";

export type QueueStatus = {
  /** Work that is not done, and of it what should have begun. */
  depth: number;
  due: number;
  /** Seconds since the oldest of it should have begun; 0 when nothing is late. */
  oldestDueSeconds: number;
  /** Deliveries that were given up in the last seven days. */
  dead: number;
  /** ISO 8601; null before the first sweep. */
  lastSweepAt: string | null;
};

/** How the outbox stands, for the operator. */
export async function queueStatus(system: System): Promise<QueueStatus> {
  const [open, dead, sweeps] = await system.run((q) => [
    q.execute<{ depth: string; due: string; oldest: string }>(sql`
      select count(*) as depth, count(*) filter (where due_at <= now()) as due,
        greatest(0, floor(extract(epoch from now() - min(due_at)))) as oldest
      from ${outbox} where done_at is null`),
    q.execute<{ dead: string }>(sql`
      select count(*) as dead from ${deliveries}
      where state = 'dead' and created_at > now() - interval '7 days'`),
    q.select({ at: marks.at }).from(marks).where(sql`${marks.name} = ${SWEEP_MARK}`),
  ]);
  const [counts] = open.rows;
  return {
    depth: Number(counts?.depth ?? 0),
    due: Number(counts?.due ?? 0),
    oldestDueSeconds: Number(counts?.oldest ?? 0),
    dead: Number(dead.rows[0]?.dead ?? 0),
    lastSweepAt: sweeps[0]?.at.toISOString() ?? null,
  };
}

/** Sweeps that may be missed before somebody should look. */
const PERIODS = 3;

/**
 * What a monitor should tell its people, in one cheap question. An installation that was never swept
 * counts from its first organization.
 */
export async function outboxWarnings(system: System, sweepCron: string): Promise<string[]> {
  const [result] = await system.run((q) => [
    q.execute<{ unswept: string | null; late: string | null }>(sql`
      select
        extract(epoch from now() - coalesce(
          (select at from ${marks} where name = ${SWEEP_MARK}),
          (select min(created_at) from ${organizations}))) as unswept,
        extract(epoch from now() -
          (select min(due_at) from ${outbox} where done_at is null)) as late`),
  ]);
  const limit = PERIODS * periodMinutes(sweepCron) * 60;
  const [row] = result.rows;
  const minutes = (seconds: number) => `${Math.floor(seconds / 60)} minutes`;
  const warnings: string[] = [];
  const [unswept, late] = [Number(row?.unswept ?? 0), Number(row?.late ?? 0)];
  if (unswept > limit) warnings.push(`No sweep for ${minutes(unswept)}`);
  if (late > limit) warnings.push(`The oldest work is ${minutes(late)} late`);
  return warnings;
}

/** Of the cron expressions that a sweeper sensibly has: each minute, each n minutes, or hourly. */
function periodMinutes(cron: string): number {
  const [minute = ""] = cron.trim().split(/\s+/);
  if (minute === "*") return 1;
  const [, step] = /^\*\/(\d+)$/.exec(minute) ?? [];
  return step ? Number(step) : 60;
}
