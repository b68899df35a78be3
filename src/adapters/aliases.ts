import type { Catalogue, ReasoningProvider, VoiceProvider } from "../ports/catalogue.ts";
import type { Model } from "../ports/model.ts";
import type { Speaker } from "../ports/speaker.ts";

type VoiceBehind = VoiceProvider & {
  speaker: Speaker;
  /** The vendor's names, by alias. */
  vendorModels: Record<string, string>;
  vendorVoices: Record<string, string>;
};

/** The only place where an alias and who is behind it stand side by side. */
export function catalogueOf(parts: {
  elevenLabs: Speaker;
  openAi: Speaker;
  /** Offered where the deployment has the binding. */
  workersAi: Speaker | undefined;
  model: Model;
  reasoning: keyof typeof vendorReasoning;
  /** The vendor's name of the default reasoning model; without it the fast one. */
  defaultModel: string | undefined;
}): Catalogue {
  const voices: VoiceBehind[] = [
    { ...firstProvider, speaker: parts.elevenLabs },
    { ...secondProvider, speaker: parts.openAi },
    ...(parts.workersAi ? [{ ...thirdProvider, speaker: parts.workersAi }] : []),
  ];
  const models = vendorReasoning[parts.reasoning];
  const defaultModel = parts.defaultModel ?? models.service_fast_v1;
  return {
    voiceProviders: voices,
    reasoningProviders,
    speaker({ provider, model, voiceId }) {
      const entry = voices.find((candidate) => candidate.provider === provider);
      const vendorVoice = entry?.vendorVoices[voiceId];
      const vendorModel = entry?.vendorModels[model];
      if (!entry || !vendorVoice || !vendorModel) return null;
      return { speaker: entry.speaker, voice: vendorVoice, model: vendorModel };
    },
    model: ({ provider, model }) => ({
      model: parts.model,
      name: (isReasoning(provider) && model ? named(models, model) : undefined) ?? defaultModel,
    }),
  };
}

const reasoningProviders: ReasoningProvider[] = [
  { provider: "service_llm_1", models: ["service_fast_v1", "service_deep_v1"] },
];

type ReasoningModels = { service_fast_v1: string; service_deep_v1: string };

const vendorReasoning = {
  openai: { service_fast_v1: "gpt-4o-mini", service_deep_v1: "gpt-4o" },
  "workers-ai": {
    service_fast_v1: "@cf/meta/llama-3.1-8b-instruct-fp8",
    service_deep_v1: "@cf/meta/llama-3.3-70b-instruct-fp8-fast",
  },
} satisfies Record<string, ReasoningModels>;

const named = (models: Record<string, string>, alias: string) => models[alias];

const isReasoning = (provider: string) =>
  reasoningProviders.some((entry) => entry.provider === provider);

/** What both vendors' multilingual models speak well. */
const LANGUAGES = "en es fr de it pt nl pl sv da fi no cs el tr ru uk ar hi id ja ko zh".split(" ");

const firstProvider: Omit<VoiceBehind, "speaker"> = {
  name: "Expressive voices",
  provider: "service_voice_model_1",
  models: ["multilingual_v2", "multilingual_v1", "turbo_v2_5", "turbo_v2"],
  languages: LANGUAGES,
  voices: [
    { voice_id: "amelia", name: "Amelia", gender: "female" },
    { voice_id: "oliver", name: "Oliver", gender: "male" },
    { voice_id: "clara", name: "Clara", gender: "female" },
    { voice_id: "theo", name: "Theo", gender: "male" },
  ],
  vendorModels: {
    multilingual_v2: "eleven_multilingual_v2",
    multilingual_v1: "eleven_multilingual_v1",
    turbo_v2_5: "eleven_turbo_v2_5",
    turbo_v2: "eleven_turbo_v2",
  },
  vendorVoices: {
    amelia: "21m00Tcm4TlvDq8ikWAM",
    oliver: "TxGEqnHWrfWFTfGW9XjX",
    clara: "EXAVITQu4vr4xnSDxMaL",
    theo: "pNInz6obpgDQGcFmaJgB",
  },
};

const secondProvider: Omit<VoiceBehind, "speaker"> = {
  name: "Service voices",
  provider: "service_voice_model_2",
  models: ["service_v1"],
  languages: LANGUAGES,
  voices: [
    { voice_id: "june", name: "June", gender: "female" },
    { voice_id: "felix", name: "Felix", gender: "male" },
  ],
  vendorModels: { service_v1: "gpt-4o-mini-tts" },
  vendorVoices: { june: "nova", felix: "onyx" },
};

/** Each model is one language's, and so is each voice. */
const thirdProvider: Omit<VoiceBehind, "speaker"> = {
  name: "Swift voices",
  provider: "service_voice_model_3",
  models: ["swift_v1"],
  languages: ["en"],
  voices: [
    { voice_id: "ruby", name: "Ruby", gender: "female" },
    { voice_id: "miles", name: "Miles", gender: "male" },
  ],
  vendorModels: { swift_v1: "@cf/deepgram/aura-2-en" },
  vendorVoices: { ruby: "thalia", miles: "apollo" },
};
