import * as z from "zod";
import type { agents } from "../../db/schema/index.ts";
import type { Catalogue } from "../../ports/catalogue.ts";
import { voiceName } from "./voice.ts";

export type AgentRow = typeof agents.$inferSelect;

export const AgentSummary = z
  .object({ id: z.string(), name: z.string(), language: z.string(), task_type: z.string() })
  .meta({ id: "AgentSummary", description: "An agent as lists show it" });

export const AgentDetails = z
  .object({
    id: z.string(),
    name: z.string(),
    company_name: z.string(),
    industry: z.string(),
    task_type: z.string(),
    language: z.string(),
    first_message: z.string(),
    system_prompt: z.string(),
    provider: z.string(),
    model: z.string().nullable(),
    voice_provider: z.string(),
    voice_model: z.string(),
    voice: z.string().nullable(),
    hipaa: z.boolean(),
    end_call_phrases: z.array(z.string()),
  })
  .meta({ id: "AgentDetails", description: "An agent with its whole configuration" });

export function summaryOf(row: AgentRow): z.infer<typeof AgentSummary> {
  return { id: row.id, name: row.name, language: row.language, task_type: row.taskType };
}

export function detailsOf(row: AgentRow, catalogue: Catalogue): z.infer<typeof AgentDetails> {
  return {
    ...summaryOf(row),
    company_name: row.companyName,
    industry: row.industry,
    first_message: row.firstMessage,
    system_prompt: row.systemPrompt,
    provider: row.provider,
    model: row.model,
    voice_provider: row.voiceProvider,
    voice_model: row.voiceModel,
    voice: voiceName(catalogue, row.voiceProvider, row.voiceId),
    hipaa: row.hipaa,
    end_call_phrases: row.endCallPhrases,
  };
}
