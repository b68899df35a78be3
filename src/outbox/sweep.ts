import { and, isNull, lt, or, sql } from "drizzle-orm";
import { marks, outbox } from "../db/schema/index.ts";
import type { System } from "../db/system.ts";
import type { Queue } from "../ports/queue.ts";
import { closeAbandonedCalls } from "../resources/calls/close-abandoned.ts";
import type { Session } from "../resources/calls/session-types.ts";
import { closeLostAttempts } from "../resources/webhooks/close-lost.ts";
import { prune } from "./prune.ts";
import { publishDue } from "./publish.ts";

/** How long the queue may take before it is asked again. */
const OVERDUE_SECONDS = 30;
const ROWS_AT_ONCE = 5_000;
const MESSAGES_AT_ONCE = 100;

export const SWEEP_MARK = "sweep";

export type Sweeper = {
  system: System;
  queue: Queue;
  session(callId: string): Session;
  /** Ms since the epoch. */
  now: number;
  /** No call is open longer. */
  longestCallSeconds: number;
};

/**
 * What nobody else would come back to: ends calls whose session died, closes attempts that nobody
 * finished, publishes again what is overdue, and forgets what is older than its time. Gives how many
 * rows were published. Throws when the database or the queue is not there; the next sweep goes on.
 */
export async function sweep(sweeper: Sweeper): Promise<number> {
  const { system, now } = sweeper;
  await closeAbandonedCalls(sweeper);
  await closeLostAttempts(system, now);
  const published = await republish(sweeper);
  await prune(system, now);
  const at = new Date(now);
  await system.run((q) => [
    q
      .insert(marks)
      .values({ name: SWEEP_MARK, at })
      .onConflictDoUpdate({ target: marks.name, set: { at } }),
  ]);
  return published;
}

/**
 * What was never published, was lost by the queue, or crashed with a lease that has run out. Under a
 * new generation: the queue would take the old one for a message that it has had. The time when a
 * row was due stays, so that it shows how late it is.
 */
async function republish({ system, queue, now }: Sweeper): Promise<number> {
  const overdue = sql`(
    select org_id, id from outbox
    where done_at is null and due_at < ${new Date(now - OVERDUE_SECONDS * 1_000).toISOString()}
      and (lease_until is null or lease_until < ${new Date(now).toISOString()})
    order by due_at limit ${ROWS_AT_ONCE} for update skip locked
  )`;
  const [rows] = await system.run((q) => [
    q
      .update(outbox)
      .set({ gen: sql`${outbox.gen} + 1`, leaseUntil: null })
      .where(
        and(
          sql`(${outbox.orgId}, ${outbox.id}) in ${overdue}`,
          isNull(outbox.doneAt),
          or(isNull(outbox.leaseUntil), lt(outbox.leaseUntil, new Date(now))),
        ),
      )
      .returning(),
  ]);
  for (let begin = 0; begin < rows.length; begin += MESSAGES_AT_ONCE) {
    const some = rows.slice(begin, begin + MESSAGES_AT_ONCE);
    await publishDue(
      queue,
      some.map((row) => ({ ...row, delaySeconds: 0 })),
    );
  }
  return rows.length;
}
