import type { BatchItem } from "drizzle-orm/batch";
import type { Context } from "../context.ts";
import type { statements } from "../db/statements.ts";
import type { Gate } from "../resources/keys/gate-types.ts";
import type { NewEvent } from "../resources/webhooks/events.ts";

/** What the queue's handlers know: an organization, and no key that asks. */
export type TaskContext = Pick<
  Context,
  "organizationId" | "now" | "db" | "queue" | "catalogue" | "vault" | "options"
> & { gates(routingTag: string): Gate };

export type Outcome = {
  /** Committed together with the outbox row: an outcome is never recorded without its work. */
  statements(q: typeof statements): BatchItem<"pg">[];
  /** What thereby happened, recorded in the same transaction. */
  event?: NewEvent;
  /** Null when the work is done; else in how many seconds it goes on. */
  againInSeconds: number | null;
};

/**
 * Does one piece of work under a lease. It may be called again for the same subject after a crash
 * and must then find out what already happened. Throwing means that nothing is known: the queue
 * tries again.
 */
export type Task = (ctx: TaskContext, subjectId: string) => Promise<Outcome>;
