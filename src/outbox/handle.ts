import { and, eq, isNull, lt, or, sql } from "drizzle-orm";
import * as z from "zod";
import { outbox } from "../db/schema/index.ts";
import { publishDue } from "./publish.ts";
import type { Outcome, TaskContext } from "./task.ts";
import { tasks } from "./tasks.ts";

export const TaskMessage = z.object({
  org: z.string(),
  id: z.string(),
  gen: z.int(),
});

/** Longer than any work takes: a webhook has ten seconds, a model's answer sixty. */
const LEASE_SECONDS = 90;

/**
 * Takes the row's lease, does its work, records the outcome and publishes what follows. A message
 * that comes twice, or too late, finds no row to take and changes nothing.
 */
export async function handleTask(
  ctx: TaskContext,
  message: z.output<typeof TaskMessage>,
): Promise<void> {
  const own = and(eq(outbox.orgId, ctx.organizationId), eq(outbox.id, message.id));
  const [[row]] = await ctx.db.write((q) => [
    q
      .update(outbox)
      .set({ leaseUntil: new Date(ctx.now + LEASE_SECONDS * 1_000) })
      .where(
        and(
          own,
          eq(outbox.gen, message.gen),
          isNull(outbox.doneAt),
          or(isNull(outbox.leaseUntil), lt(outbox.leaseUntil, new Date(ctx.now))),
        ),
      )
      .returning(),
  ]);
  const task = row && tasks[row.task];
  if (!task) return;
  const outcome = await task(ctx, row.subjectId);
  await settle(ctx, row, outcome);
}

async function settle(
  ctx: TaskContext,
  row: typeof outbox.$inferSelect,
  { statements, againInSeconds }: Outcome,
): Promise<void> {
  const gen = row.gen + 1;
  const again = againInSeconds !== null;
  await ctx.db.write((q) => [
    q
      .update(outbox)
      .set(
        again
          ? { gen, leaseUntil: null, dueAt: sql`now() + make_interval(secs => ${againInSeconds})` }
          : { leaseUntil: null, doneAt: sql`now()` },
      )
      .where(and(eq(outbox.orgId, row.orgId), eq(outbox.id, row.id))),
    ...statements(q),
  ]);
  if (again) await publishDue(ctx.queue, [{ ...row, gen, delaySeconds: againInSeconds }]);
}
