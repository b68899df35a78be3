import { and, eq } from "drizzle-orm";
import { agents, analyses, calls, transcripts } from "../../../db/schema/index.ts";
import { log } from "../../../log.ts";
import type { Outcome, Task, TaskContext } from "../../../outbox/task.ts";
import { newEvent } from "../../webhooks/events.ts";
import { eventData } from "../event-data.ts";
import { analyseByModel } from "./by-model.ts";
import { analyseOffline } from "./offline.ts";

const done: Outcome = { statements: () => [], againInSeconds: null };

/** Analyses a call once, after its end: by the model, or without it when it fails. */
export const analyzeCall: Task = async (ctx, callId) => {
  const call = await readCall(ctx, callId);
  if (!call || call.isAnalysed) return done;
  const hasCaller = call.entries.some(({ role }) => role === "user");
  const byModel = hasCaller ? await analyseByModel(ctx.catalogue, call, call.entries) : null;
  if (hasCaller && !byModel) log("warn", "analysis_without_model", { callId });
  const analysis = byModel ?? (await analyseOffline(call.entries));
  const data = eventData(call.row);
  return {
    event: newEvent(
      "call.analyzed",
      { callId, keyId: call.row.apiKeyId },
      call.hipaa ? data : { ...data, analysis },
      ctx.now,
    ),
    statements: (q) => [
      q
        .insert(analyses)
        .values({
          orgId: ctx.organizationId,
          callId,
          ...analysis,
          createdAt: new Date(ctx.now),
        })
        .onConflictDoNothing(),
    ],
    againInSeconds: null,
  };
};

async function readCall(ctx: TaskContext, callId: string) {
  const [rows] = await ctx.db.read((q) => [
    q
      .select({
        row: calls,
        hipaa: agents.hipaa,
        entries: transcripts.entries,
        provider: agents.provider,
        model: agents.model,
        analysed: analyses.callId,
      })
      .from(calls)
      .innerJoin(agents, and(eq(agents.orgId, calls.orgId), eq(agents.id, calls.assistantId)))
      .leftJoin(
        transcripts,
        and(eq(transcripts.orgId, calls.orgId), eq(transcripts.callId, calls.id)),
      )
      .leftJoin(analyses, and(eq(analyses.orgId, calls.orgId), eq(analyses.callId, calls.id)))
      .where(and(eq(calls.orgId, ctx.organizationId), eq(calls.id, callId))),
  ]);
  const [row] = rows;
  return row && { ...row, entries: row.entries ?? [], isAnalysed: row.analysed !== null };
}
