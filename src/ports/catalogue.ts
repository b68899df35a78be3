import type { Model } from "./model.ts";
import type { Speaker } from "./speaker.ts";

export type Voice = {
  voice_id: string;
  name: string;
  gender: "female" | "male";
};

/** One voice provider as the world sees it: aliases, never the name of who is behind them. */
export type VoiceProvider = {
  provider: string;
  name: string;
  models: readonly string[];
  /** BCP-47 languages that its voices speak. */
  languages: readonly string[];
  voices: readonly Voice[];
};

export type ReasoningProvider = { provider: string; models: readonly string[] };

/** Public aliases, and what stands behind them. Fixed for the life of a deployment. */
export type Catalogue = {
  voiceProviders: readonly VoiceProvider[];
  reasoningProviders: readonly ReasoningProvider[];
  /** How to speak with a voice; null when there is no such alias, model or voice. */
  speaker(alias: {
    provider: string;
    model: string;
    voiceId: string;
  }): { speaker: Speaker; voice: string; model: string } | null;
  /** How to think; anything but a reasoning alias gets the default. */
  model(alias: { provider: string; model: string | null }): { model: Model; name: string };
};
