import { and, eq } from "drizzle-orm";
import * as z from "zod";
import type { Context } from "../../context.ts";
import { DatabaseError } from "../../db/failure.ts";
import { agents, calls } from "../../db/schema/index.ts";
import { type Failure, failure } from "../../errors.ts";
import { newCallId } from "../../ids.ts";
import { publishDue } from "../../outbox/publish.ts";
import { languageTag } from "../agents/language.ts";
import type { AgentRow } from "../agents/view.ts";
import { dueOf, newEvent, recordEvent } from "../webhooks/events.ts";
import { eventData } from "./event-data.ts";
import type { SessionAgent } from "./session-types.ts";
import { callStatus } from "./status.ts";
import type { CallRow } from "./view.ts";

export const StartWebCall = z.object({
  assistantId: z.string().min(1),
  type: z.literal("web"),
  dialect: z.enum(["native"]).optional(),
});

/** One batch for agent, call, event and outbox; then the session is told, which sets its alarm. */
export async function startWebCall(
  ctx: Context,
  input: z.output<typeof StartWebCall>,
): Promise<CallRow | Failure> {
  const call = newCall(ctx, input.assistantId);
  const event = newEvent(
    "call.initiated",
    { callId: call.id, keyId: ctx.keyId },
    eventData(call),
    ctx.now,
  );
  const written = await write(ctx, call, event);
  if (!written) return failure("agent_not_found", "There is no such agent");
  await ctx.sessions(call.id).prepare({
    organizationId: ctx.organizationId,
    callId: call.id,
    keyId: ctx.keyId,
    agent: sessionAgent(written.agent),
    createdAt: ctx.now,
    joinBy: ctx.now + ctx.options.callJoinSeconds * 1_000,
  });
  ctx.later(publishDue(ctx.queue, written.due));
  return call;
}

function newCall(ctx: Context, assistantId: string): CallRow {
  return {
    orgId: ctx.organizationId,
    id: newCallId(ctx.now),
    type: "web",
    status: callStatus.initiated,
    assistantId,
    apiKeyId: ctx.keyId,
    accessPoint: "api",
    direction: "inbound",
    endReason: null,
    durationSeconds: 0,
    createdAt: new Date(ctx.now),
    startedAt: null,
    endedAt: null,
  };
}

/** Null when there is no such agent: then the call's foreign key refuses the whole batch. */
async function write(ctx: Context, call: CallRow, event: Parameters<typeof recordEvent>[2]) {
  try {
    const [[agent], , , , outboxRows] = await ctx.db.write((q) => [
      q
        .select()
        .from(agents)
        .where(and(eq(agents.orgId, ctx.organizationId), eq(agents.id, call.assistantId))),
      q.insert(calls).values(call),
      ...recordEvent(q, ctx.organizationId, event),
    ]);
    return agent ? { agent, due: dueOf(outboxRows) } : null;
  } catch (error) {
    if (error instanceof DatabaseError && error.constraint === "calls_agent") return null;
    throw error;
  }
}

function sessionAgent(row: AgentRow): SessionAgent {
  return {
    id: row.id,
    name: row.name,
    language: languageTag(row.language) ?? "en",
    firstMessage: row.firstMessage,
    systemPrompt: row.systemPrompt,
    provider: row.provider,
    model: row.model,
    voiceProvider: row.voiceProvider,
    voiceModel: row.voiceModel,
    voiceId: row.voiceId,
    hipaa: row.hipaa,
    endCallPhrases: row.endCallPhrases,
  };
}
