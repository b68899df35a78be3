import { and, isNull, lt, or, sql } from "drizzle-orm";
import { outbox } from "../db/schema/index.ts";
import type { System } from "../db/system.ts";
import type { Queue } from "../ports/queue.ts";
import { publishDue } from "./publish.ts";

/** How long the queue may take before it is asked again. */
const OVERDUE_SECONDS = 30;
const ROWS_AT_ONCE = 500;

/**
 * Publishes again, under a new generation, what is overdue or whose lease ran out: what the queue
 * lost, what was never published, what crashed. Also forgets rows done a week ago.
 */
export async function sweep(system: System, queue: Queue, now: number): Promise<number> {
  const overdue = sql`(
    select org_id, id from outbox
    where done_at is null and due_at < ${new Date(now - OVERDUE_SECONDS * 1_000).toISOString()}
      and (lease_until is null or lease_until < ${new Date(now).toISOString()})
    order by due_at limit ${ROWS_AT_ONCE} for update skip locked
  )`;
  const [rows] = await system.run((q) => [
    q
      .update(outbox)
      .set({ gen: sql`${outbox.gen} + 1`, dueAt: new Date(now), leaseUntil: null })
      .where(
        and(
          sql`(${outbox.orgId}, ${outbox.id}) in ${overdue}`,
          isNull(outbox.doneAt),
          or(isNull(outbox.leaseUntil), lt(outbox.leaseUntil, new Date(now))),
        ),
      )
      .returning(),
    q.delete(outbox).where(lt(outbox.doneAt, new Date(now - 7 * 24 * 3_600_000))),
  ]);
  await publishDue(
    queue,
    rows.map((row) => ({ ...row, delaySeconds: 0 })),
  );
  return rows.length;
}
