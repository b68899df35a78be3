import { eq, sql } from "drizzle-orm";
import { organizations, outbox } from "../db/schema/index.ts";
import type { System } from "../db/system.ts";
import { newId } from "../ids.ts";
import { publishDue } from "../outbox/publish.ts";
import type { Queue } from "../ports/queue.ts";

/**
 * Closes an organization for good: from when its gate hears of it, each of its keys answers 404.
 * The gate is told through the outbox, so that it hears of it whatever dies in between; without the
 * queue that is when the sweeper comes by. False when there is no such organization.
 */
export async function closeOrganization(
  operator: { system: System; queue: Queue; now: number },
  organizationId: string,
): Promise<boolean> {
  const { system, queue, now } = operator;
  const own = eq(organizations.id, organizationId);
  const at = sql<Date>`${new Date(now).toISOString()}::timestamptz`;
  const [closed, due] = await system.run((q) => [
    q
      .update(organizations)
      .set({ closedAt: sql`coalesce(${organizations.closedAt}, ${at})` })
      .where(own)
      .returning({ id: organizations.id }),
    q
      .insert(outbox)
      .select(
        q
          .select({
            orgId: organizations.id,
            id: sql<string>`${newId("obx", now)}::text`.as("id"),
            task: sql<string>`'tell-gate'`.as("task"),
            subjectId: organizations.routingTag,
            lane: sql<string | null>`null::text`.as("lane"),
            gen: sql<number>`1`.as("gen"),
            dueAt: at.as("due_at"),
            leaseUntil: sql<Date | null>`null::timestamptz`.as("lease_until"),
            doneAt: sql<Date | null>`null::timestamptz`.as("done_at"),
            createdAt: at.as("created_at"),
          })
          .from(organizations)
          .where(own),
      )
      .returning(),
  ]);
  // The sweeper publishes what the queue did not take.
  await publishDue(
    queue,
    due.map((row) => ({ ...row, delaySeconds: 0 })),
  ).catch(() => {});
  return closed.length > 0;
}
