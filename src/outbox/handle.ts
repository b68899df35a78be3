import { and, eq, isNull, lt, or, sql } from "drizzle-orm";
import * as z from "zod";
import { outbox } from "../db/schema/index.ts";
import { log } from "../log.ts";
import { dueOf, recordEvent } from "../resources/webhooks/events.ts";
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

type Row = typeof outbox.$inferSelect;

/**
 * Takes the row's lease, does its work, records the outcome and publishes what follows. A message
 * that comes twice finds no row to take and changes nothing. Throws when nothing is known of the
 * outcome; then the lease is given back, so that the queue's next try can take it.
 */
export async function handleTask(
  ctx: TaskContext,
  message: z.output<typeof TaskMessage>,
): Promise<void> {
  const row = await takeLease(ctx, message);
  if (!row) return;
  const task = tasks[row.task];
  if (!task) throw new Error(`There is no task ${row.task}`);
  let outcome: Outcome;
  try {
    outcome = await task(ctx, row.subjectId);
  } catch (error) {
    await giveBack(ctx, row).catch(() => undefined);
    throw error;
  }
  await settle(ctx, row, outcome);
}

/**
 * On the database's clock, which is one for all. A message of an older publication is as good as
 * the newest once the row is due: behind a slow destination messages wait longer than the sweeper.
 */
async function takeLease(
  ctx: TaskContext,
  message: z.output<typeof TaskMessage>,
): Promise<Row | undefined> {
  const [[row]] = await ctx.db.write((q) => [
    q
      .update(outbox)
      .set({ leaseUntil: sql`now() + make_interval(secs => ${LEASE_SECONDS})` })
      .where(
        and(
          eq(outbox.orgId, ctx.organizationId),
          eq(outbox.id, message.id),
          or(eq(outbox.gen, message.gen), lt(outbox.dueAt, sql`now()`)),
          isNull(outbox.doneAt),
          or(isNull(outbox.leaseUntil), lt(outbox.leaseUntil, sql`now()`)),
        ),
      )
      .returning(),
  ]);
  return row;
}

/** Whoever took it since holds another lease; that one is not ours to touch. */
const stillOurs = (row: Row) =>
  and(
    eq(outbox.orgId, row.orgId),
    eq(outbox.id, row.id),
    row.leaseUntil ? eq(outbox.leaseUntil, row.leaseUntil) : isNull(outbox.leaseUntil),
  );

async function giveBack(ctx: TaskContext, row: Row): Promise<void> {
  await ctx.db.write((q) => [q.update(outbox).set({ leaseUntil: null }).where(stillOurs(row))]);
}

async function settle(
  ctx: TaskContext,
  row: Row,
  { statements, event, againInSeconds }: Outcome,
): Promise<void> {
  const gen = row.gen + 1;
  const again = againInSeconds !== null;
  const results = await ctx.db.write((q) => [
    q
      .update(outbox)
      .set(
        again
          ? { gen, leaseUntil: null, dueAt: sql`now() + make_interval(secs => ${againInSeconds})` }
          : { leaseUntil: null, doneAt: sql`now()` },
      )
      .where(stillOurs(row))
      .returning({ id: outbox.id }),
    ...statements(q),
    ...(event ? recordEvent(q, ctx.organizationId, event) : []),
  ]);
  const due = event ? dueOf(results.at(-1) as Parameters<typeof dueOf>[0]) : [];
  const isOurs = (results[0] as unknown[]).length > 0;
  if (again && isOurs) due.push({ ...row, gen, delaySeconds: againInSeconds });
  try {
    await publishDue(ctx.queue, due);
  } catch {
    log("warn", "left_to_the_sweeper", { task: row.task, outboxId: row.id });
  }
}
