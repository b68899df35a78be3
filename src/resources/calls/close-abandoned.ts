import { and, asc, eq, inArray, lt, sql } from "drizzle-orm";
import { calls } from "../../db/schema/index.ts";
import type { System } from "../../db/system.ts";
import { log } from "../../log.ts";
import { type Due, publishDue } from "../../outbox/publish.ts";
import type { Queue } from "../../ports/queue.ts";
import { dueOf, newEvent, recordEvent } from "../webhooks/events.ts";
import { eventData } from "./event-data.ts";
import type { Session } from "./session-types.ts";
import { callStatus, OPEN_STATUSES } from "./status.ts";
import type { CallRow } from "./view.ts";

/** For the session's own last try to write the end. */
const GRACE_MS = 10 * 60_000;
const AT_ONCE = 100;

type Closer = {
  system: System;
  queue: Queue;
  session(callId: string): Session;
  now: number;
  longestCallSeconds: number;
};

/**
 * Ends calls that are open for longer than any call may be: their session died, or never was. Its
 * own end is preferred, since it knows what was said; else the call failed.
 */
export async function closeAbandonedCalls(closer: Closer): Promise<void> {
  const { system, queue, session, now, longestCallSeconds } = closer;
  const oldest = new Date(now - longestCallSeconds * 1_000 - GRACE_MS);
  const [abandoned] = await system.run((q) => [
    q
      .select()
      .from(calls)
      // The literal is what the partial index is made for.
      .where(and(sql`status < 3`, lt(calls.createdAt, oldest)))
      .orderBy(asc(calls.createdAt))
      .limit(AT_ONCE),
  ]);
  for (const call of abandoned) {
    // True: it has begun to write its own end, and will not let go of it.
    const hasOwnEnd = await session(call.id)
      .end("error")
      .catch(() => false);
    if (!hasOwnEnd) await publishDue(queue, await closeCall(system, call, now));
    log("warn", "call_abandoned", { callId: call.id, hasOwnEnd });
  }
}

async function closeCall(system: System, call: CallRow, now: number): Promise<Due[]> {
  const ended: CallRow = {
    ...call,
    status: callStatus.failed,
    endReason: "error",
    endedAt: new Date(now),
  };
  const { status, endReason, endedAt } = ended;
  const about = { callId: call.id, keyId: call.apiKeyId };
  const event = newEvent("call.failed", about, eventData(ended), now);
  const [, , , , due] = await system.run((q) => [
    q
      .update(calls)
      .set({ status, endReason, endedAt })
      .where(
        and(
          eq(calls.orgId, call.orgId),
          eq(calls.id, call.id),
          inArray(calls.status, [...OPEN_STATUSES]),
        ),
      ),
    ...recordEvent(q, call.orgId, event),
  ]);
  return dueOf(due);
}
