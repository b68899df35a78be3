import { and, eq, sql } from "drizzle-orm";
import * as z from "zod";
import type { Context } from "../../context.ts";
import { assertBelowCeiling, isAtCeiling } from "../../db/ceiling.ts";
import { DatabaseError } from "../../db/failure.ts";
import { agents, apiKeys, calls } from "../../db/schema/index.ts";
import { type Failure, failure, isFailure } from "../../errors.ts";
import { newCallId } from "../../ids.ts";
import { publishDue } from "../../outbox/publish.ts";
import { dialectNames } from "../../voice/dialects.ts";
import { languageTag } from "../agents/language.ts";
import type { AgentRow } from "../agents/view.ts";
import { dueOf, type NewEvent, newEvent, recordEvent } from "../webhooks/events.ts";
import { eventData } from "./event-data.ts";
import type { SessionAgent } from "./session-types.ts";
import { callStatus } from "./status.ts";
import type { CallRow } from "./view.ts";

export const StartWebCall = z.object({
  assistantId: z.string().min(1),
  type: z.literal("web"),
  dialect: z.enum(dialectNames).optional(),
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
  if (isFailure(written)) return written;
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

const CEILING = "live_web_calls";
const REVOKED = "revoked_key";

/** An unknown agent, or one call too many, refuses the whole batch. */
async function write(ctx: Context, call: CallRow, event: NewEvent) {
  try {
    const [, , , [agent], , , , , outboxRows] = await ctx.db.write((q) => [
      q.execute(refuseRevokedKey(ctx)),
      ...assertBelowCeiling(q, {
        organizationId: ctx.organizationId,
        name: CEILING,
        counted: sql`select count(*) from ${calls} where ${openWebCalls(ctx)}`,
        most: ctx.options.liveWebCalls,
      }),
      q
        .select()
        .from(agents)
        .where(and(eq(agents.orgId, ctx.organizationId), eq(agents.id, call.assistantId))),
      q.insert(calls).values(call),
      ...recordEvent(q, ctx.organizationId, event),
    ]);
    if (!agent) throw new Error("a call was written for an agent that is not there");
    return { agent, due: dueOf(outboxRows) };
  } catch (error) {
    if (error instanceof DatabaseError && error.constraint === "calls_agent") {
      return failure("agent_not_found", "There is no such agent");
    }
    if (isAtCeiling(error, REVOKED)) {
      return failure("key_revoked", "This API key has been revoked");
    }
    if (isAtCeiling(error, CEILING)) {
      return failure(
        "concurrency_limit",
        `At most ${ctx.options.liveWebCalls} web calls may be live or wait to be joined; end one with POST /v1/calls/{id}/end`,
      );
    }
    throw error;
  }
}

/**
 * The key was good when it was admitted. Holding its row makes a revocation wait for this call and
 * then find it, or makes this call see the revocation.
 */
function refuseRevokedKey(ctx: Context) {
  return sql`
    select refuse_at_ceiling((status = 'revoked')::int, 1, ${REVOKED}) from ${apiKeys}
    where org_id = ${ctx.organizationId} and id = ${ctx.keyId} for share`;
}

function openWebCalls(ctx: Context) {
  // The literal is what the partial index is made for.
  return and(eq(calls.orgId, ctx.organizationId), eq(calls.type, "web"), sql`status < 3`);
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
