import { sql } from "drizzle-orm";
import { index, integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { instant, orgId, ownRowsOnly } from "./shared.ts";

/**
 * What must happen later, written in the transaction of its cause. The queue is only the timer: it
 * carries `{ org, id, gen }`, and a row that it loses is found again by the sweeper.
 */
export const outbox = pgTable(
  "outbox",
  {
    orgId: orgId(),
    id: text("id").notNull(),
    /** The name of the work: see `outbox/tasks.ts`. */
    task: text("task").notNull(),
    /** What the work is about, such as a delivery's id. */
    subjectId: text("subject_id").notNull(),
    /** What shares a limit on how much is under way, such as a destination; null: the organization. */
    lane: text("lane"),
    /** Grows with each publication; a message of an older generation is stale. */
    gen: integer("gen").notNull(),
    dueAt: instant("due_at").notNull(),
    leaseUntil: instant("lease_until"),
    doneAt: instant("done_at"),
    createdAt: instant("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.id] }),
    index("outbox_open").on(table.dueAt).where(sql`done_at is null`),
    index("outbox_done").on(table.doneAt).where(sql`done_at is not null`),
    ownRowsOnly(),
  ],
);

/** When something was last done for the whole service. No tenant sees it. */
export const marks = pgTable("service_marks", {
  name: text("name").primaryKey(),
  at: instant("at").notNull(),
}).enableRLS();
