import { and, eq, inArray } from "drizzle-orm";
import { calls, outbox, type TranscriptEntry, transcripts } from "../../../db/schema/index.ts";
import type { Tenant } from "../../../db/tenant.ts";
import { newId } from "../../../ids.ts";
import { publishDue } from "../../../outbox/publish.ts";
import type { Queue } from "../../../ports/queue.ts";
import { type EndReason, type TurnState, transcriptAt } from "../../../voice/turn.ts";
import { dueOf, newEvent, recordEvent } from "../../webhooks/events.ts";
import { eventData } from "../event-data.ts";
import type { Preparation } from "../session-types.ts";
import { callStatus, OPEN_STATUSES, statusOfEnd } from "../status.ts";
import type { Ending } from "./store.ts";

/** What each side heard of the other until now. */
export function entriesAt(turn: TurnState | null, now: number): TranscriptEntry[] {
  if (!turn) return [];
  return transcriptAt(turn, now).map(({ role, content, interrupted }) =>
    interrupted ? { role, content, interrupted } : { role, content },
  );
}

/** Everything about the end, fixed once: however often it is written, it is the same. */
export function endingOf(
  call: Preparation,
  facts: {
    reason: EndReason;
    startedAt: number | null;
    endedAt: number;
    entries: TranscriptEntry[];
  },
): Ending {
  const row = rowOf(call, facts);
  const completed = row.status === callStatus.completed;
  const data = eventData(row);
  return {
    ...facts,
    tries: 0,
    analysisId: newId("obx", facts.endedAt),
    event: newEvent(
      completed ? "call.completed" : "call.failed",
      { callId: call.callId, keyId: call.keyId },
      completed && !call.agent.hipaa ? { ...data, transcript: facts.entries } : data,
      facts.endedAt,
    ),
  };
}

/** Call, transcript, event and delivery in one transaction that may be repeated without harm. */
export async function writeEnding(
  db: Tenant,
  queue: Queue,
  call: Preparation,
  ending: Ending,
): Promise<void> {
  const { status, endReason, durationSeconds, startedAt, endedAt } = rowOf(call, ending);
  const [, , , , , outboxRows, analysisRows] = await db.write((q) => [
    q
      .update(calls)
      .set({ status, endReason, durationSeconds, startedAt, endedAt })
      .where(
        and(
          eq(calls.orgId, call.organizationId),
          eq(calls.id, call.callId),
          inArray(calls.status, [...OPEN_STATUSES]),
        ),
      ),
    q
      .insert(transcripts)
      .values({ orgId: call.organizationId, callId: call.callId, entries: ending.entries })
      .onConflictDoNothing(),
    ...recordEvent(q, call.organizationId, ending.event),
    q
      .insert(outbox)
      .values({
        orgId: call.organizationId,
        id: ending.analysisId,
        task: "analyze-call",
        subjectId: call.callId,
        gen: 1,
        dueAt: new Date(ending.endedAt),
        createdAt: new Date(ending.endedAt),
      })
      .onConflictDoNothing()
      .returning({ orgId: outbox.orgId, id: outbox.id, task: outbox.task, gen: outbox.gen }),
  ]);
  const due = [...dueOf(outboxRows), ...analysisRows.map((row) => ({ ...row, delaySeconds: 0 }))];
  // Lost here, it is found by the sweeper.
  await publishDue(queue, due).catch(() => undefined);
}

/** The call is live from now on. The final write says so too, so a failure here is forgiven. */
export async function writeJoined(db: Tenant, call: Preparation, at: number): Promise<void> {
  await db.write((q) => [
    q
      .update(calls)
      .set({ status: callStatus.inProgress, startedAt: new Date(at) })
      .where(
        and(
          eq(calls.orgId, call.organizationId),
          eq(calls.id, call.callId),
          inArray(calls.status, [callStatus.initiated, callStatus.ringing]),
        ),
      ),
  ]);
}

function rowOf(
  call: Preparation,
  facts: { reason: EndReason; startedAt: number | null; endedAt: number },
): typeof calls.$inferSelect {
  const { reason, startedAt, endedAt } = facts;
  return {
    orgId: call.organizationId,
    id: call.callId,
    type: "web",
    status: statusOfEnd(reason, startedAt !== null),
    assistantId: call.agent.id,
    apiKeyId: call.keyId,
    accessPoint: "api",
    direction: "inbound",
    endReason: reason,
    durationSeconds: startedAt === null ? 0 : Math.round((endedAt - startedAt) / 1000),
    createdAt: new Date(call.createdAt),
    startedAt: startedAt === null ? null : new Date(startedAt),
    endedAt: new Date(endedAt),
  };
}
