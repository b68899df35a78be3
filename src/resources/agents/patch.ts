import { and, eq } from "drizzle-orm";
import * as z from "zod";
import type { Context } from "../../context.ts";
import { agents } from "../../db/schema/index.ts";
import { type Failure, failure, invalid, isFailure } from "../../errors.ts";
import type { Catalogue } from "../../ports/catalogue.ts";
import { UNKNOWN_LANGUAGE } from "./create.ts";
import { findAgent } from "./find.ts";
import { languageTag } from "./language.ts";
import type { AgentRow } from "./view.ts";
import { chooseVoice, voiceName } from "./voice.ts";

const text = z.string().trim().min(1).max(200);

export const PatchAgent = z.object({
  id: z.string().meta({ description: "Must equal the id in the path" }),
  name: text.optional(),
  company_name: text.optional(),
  industry: text.optional(),
  task_type: text.optional(),
  language: text.optional(),
  first_message: z.string().max(2_000).optional(),
  system_prompt: z.string().max(32_000).optional(),
  provider: text.optional().meta({ description: "An alias of a voice or a reasoning provider" }),
  model: text.nullish(),
  voice_provider: text.optional(),
  voice_model: text.optional(),
  voice: text.optional(),
  hipaa: z.boolean().optional(),
  end_call_phrases: z.array(text).max(50).optional(),
});

type Patch = z.output<typeof PatchAgent>;

export async function patchAgent(
  ctx: Context,
  id: string,
  patch: Patch,
): Promise<AgentRow | Failure> {
  if (patch.id !== id) return invalid("id", "must equal the id in the path");
  if (patch.language !== undefined && !languageTag(patch.language)) {
    return invalid("language", UNKNOWN_LANGUAGE);
  }
  const before = await findAgent(ctx, id);
  if (isFailure(before)) return before;
  const engines = resolveEngines(ctx.catalogue, before, patch);
  if (isFailure(engines)) return engines;
  const [[row]] = await ctx.db.write((q) => [
    q
      .update(agents)
      .set({
        name: patch.name,
        companyName: patch.company_name,
        industry: patch.industry,
        taskType: patch.task_type,
        language: patch.language,
        firstMessage: patch.first_message,
        systemPrompt: patch.system_prompt,
        hipaa: patch.hipaa,
        endCallPhrases: patch.end_call_phrases,
        ...engines,
        updatedAt: new Date(ctx.now),
      })
      .where(and(eq(agents.orgId, ctx.organizationId), eq(agents.id, id)))
      .returning(),
  ]);
  return row ?? failure("agent_not_found", "There is no such agent");
}

type Engines = Pick<AgentRow, "provider" | "model" | "voiceProvider" | "voiceModel" | "voiceId">;

/**
 * `provider` and `model` read back as they were sent. An alias of a voice provider also chooses the
 * voice; an alias of a reasoning provider leaves the voice alone.
 */
function resolveEngines(catalogue: Catalogue, before: AgentRow, patch: Patch): Engines | Failure {
  const provider = patch.provider ?? before.provider;
  const model = patch.model === undefined ? (patch.provider ? null : before.model) : patch.model;
  const reasoning = catalogue.reasoningProviders.find((entry) => entry.provider === provider);
  const speaking = catalogue.voiceProviders.find((entry) => entry.provider === provider);
  const known = reasoning ?? speaking;
  if (!known) return invalid("provider", "is not an alias of GET /v1/agents/voices");
  if (model !== null && !known.models.includes(model)) {
    return invalid("model", `is not a model of ${provider}`);
  }
  const isNamed = patch.provider !== undefined || (patch.model ?? null) !== null;
  const aliasSpeaks = isNamed && speaking !== undefined;
  const voiceProvider = patch.voice_provider ?? (aliasSpeaks ? provider : before.voiceProvider);
  const voice = resolveVoice(catalogue, before, {
    voiceProvider,
    voiceModel: patch.voice_model ?? (aliasSpeaks && model ? model : undefined),
    voice: patch.voice,
    isFree: patch.voice_provider === undefined && patch.voice_model === undefined && !aliasSpeaks,
  });
  return isFailure(voice) ? voice : { provider, model, ...voice };
}

type WantedVoice = {
  voiceProvider: string;
  voiceModel: string | undefined;
  voice: string | undefined;
  /** Nothing but the voice itself was asked for: whose it is does not matter. */
  isFree: boolean;
};

/** A voice asked for by name alone may be another provider's. */
function voiceElsewhere(catalogue: Catalogue, { voice, voiceProvider, isFree }: WantedVoice) {
  if (!isFree || voice === undefined || chooseVoice(catalogue, voice, voiceProvider)) return null;
  const chosen = chooseVoice(catalogue, voice);
  return (
    chosen && {
      voiceProvider: chosen.provider,
      voiceModel: chosen.model,
      voiceId: chosen.voice.voice_id,
    }
  );
}

function resolveVoice(
  catalogue: Catalogue,
  before: AgentRow,
  wanted: WantedVoice,
): Pick<Engines, "voiceProvider" | "voiceModel" | "voiceId"> | Failure {
  const elsewhere = voiceElsewhere(catalogue, wanted);
  if (elsewhere) return elsewhere;
  const entry = catalogue.voiceProviders.find((e) => e.provider === wanted.voiceProvider);
  if (!entry) return invalid("voice_provider", "is not an alias of GET /v1/agents/voices");
  const same = wanted.voiceProvider === before.voiceProvider;
  const voiceModel = wanted.voiceModel ?? (same ? before.voiceModel : entry.models[0]);
  if (!voiceModel || !entry.models.includes(voiceModel)) {
    return invalid("voice_model", `is not a model of ${wanted.voiceProvider}`);
  }
  if (wanted.voice === undefined && same) {
    return { voiceProvider: wanted.voiceProvider, voiceModel, voiceId: before.voiceId };
  }
  // A change of provider alone keeps the gender that was chosen.
  const spoken = wanted.voice ?? genderBefore(catalogue, before);
  const chosen = chooseVoice(catalogue, spoken, wanted.voiceProvider);
  if (!chosen) return invalid("voice", `is not a voice of ${wanted.voiceProvider}`);
  return { voiceProvider: wanted.voiceProvider, voiceModel, voiceId: chosen.voice.voice_id };
}

function genderBefore(catalogue: Catalogue, before: AgentRow): string {
  const name = voiceName(catalogue, before.voiceProvider, before.voiceId);
  return (name && chooseVoice(catalogue, name)?.voice.gender) ?? "female";
}
