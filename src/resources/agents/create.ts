import { sql } from "drizzle-orm";
import * as z from "zod";
import type { Context } from "../../context.ts";
import { assertBelowCeiling, isAtCeiling } from "../../db/ceiling.ts";
import { agents } from "../../db/schema/index.ts";
import { type Failure, failure, invalid } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { firstMessage } from "./first-message.ts";
import { languageTag } from "./language.ts";
import type { AgentRow } from "./view.ts";
import { type ChosenVoice, chooseVoice } from "./voice.ts";

export const UNKNOWN_LANGUAGE =
  "is no language we know; send its name, such as Spanish, or its BCP-47 tag, such as es-MX";

export const MAX_AGENTS = 1_000;

const text = z.string().trim().min(1).max(200);

export const CreateAgent = z.object({
  name: text,
  company_name: text,
  industry: text,
  language: text.meta({ description: "A language's English name or a BCP-47 tag" }),
  voice: text.meta({ description: "A gender word, or the name of a voice" }),
  task_type: text,
});

export async function createAgent(
  ctx: Context,
  input: z.output<typeof CreateAgent>,
): Promise<AgentRow | Failure> {
  if (!languageTag(input.language)) return invalid("language", UNKNOWN_LANGUAGE);
  const chosen = chooseVoice(ctx.catalogue, input.voice);
  if (!chosen) return invalid("voice", "is neither a gender nor a voice of GET /v1/agents/voices");
  return insert(ctx, input, chosen);
}

const CEILING = "agents";

async function insert(
  ctx: Context,
  input: Persona,
  chosen: ChosenVoice,
): Promise<AgentRow | Failure> {
  const at = new Date(ctx.now);
  const { organizationId } = ctx;
  try {
    const [, , [row]] = await ctx.db.write((q) => [
      ...assertBelowCeiling(q, {
        organizationId,
        name: CEILING,
        counted: sql`select count(*) from ${agents} where org_id = ${organizationId}`,
        most: MAX_AGENTS,
      }),
      q
        .insert(agents)
        .values(newRow(ctx, input, chosen, at))
        .returning(),
    ]);
    if (!row) throw new Error("an insert returned no row");
    return row;
  } catch (error) {
    if (!isAtCeiling(error, CEILING)) throw error;
    return failure("limit_reached", `An organization has at most ${MAX_AGENTS} agents`);
  }
}

function newRow(ctx: Context, input: Persona, chosen: ChosenVoice, at: Date): AgentRow {
  return {
    orgId: ctx.organizationId,
    id: newId("agt", ctx.now),
    kind: "conversation",
    name: input.name,
    companyName: input.company_name,
    industry: input.industry,
    language: input.language,
    taskType: input.task_type,
    firstMessage: firstMessage(input),
    systemPrompt: systemPrompt(input),
    provider: chosen.provider,
    model: null,
    voiceProvider: chosen.provider,
    voiceModel: chosen.model,
    voiceId: chosen.voice.voice_id,
    hipaa: false,
    endCallPhrases: [],
    createdAt: at,
    updatedAt: at,
  };
}

type Persona = z.output<typeof CreateAgent>;

/** Usable as it stands: a new agent can take a call before anybody has tuned it. */
function systemPrompt({ name, company_name, industry, language, task_type }: Persona): string {
  return [
    `You are ${name}, a voice agent of ${company_name}, a company in the field of ${industry}.`,
    `Your task: ${task_type}.`,
    `Speak ${language}, unless the caller prefers another language.`,
    "You are heard, not read: answer in one to three short sentences, without lists, markup or emoji.",
    "Ask one question at a time. When you do not know something, say so, and never invent facts.",
  ].join("\n");
}
