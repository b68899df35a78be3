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
  model: Model;
  /** The vendor's name of the default reasoning model. */
  defaultModel: string;
}): Catalogue {
  const voices: VoiceBehind[] = [
    { ...firstProvider, speaker: parts.elevenLabs },
    { ...secondProvider, speaker: parts.openAi },
  ];
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
      name:
        (isReasoning(provider) && model ? vendorReasoning[model] : undefined) ?? parts.defaultModel,
    }),
  };
}

const reasoningProviders: ReasoningProvider[] = [
  { provider: "service_llm_1", models: ["service_fast_v1", "service_deep_v1"] },
];

const vendorReasoning: Record<string, string> = {
  service_fast_v1: "gpt-4o-mini",
  service_deep_v1: "gpt-4o",
};

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
