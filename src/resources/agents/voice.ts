import type { Catalogue, Voice } from "../../ports/catalogue.ts";

export type ChosenVoice = { provider: string; model: string; voice: Voice };

const GENDERS: Record<string, Voice["gender"]> = {
  female: "female",
  woman: "female",
  feminine: "female",
  f: "female",
  male: "male",
  man: "male",
  masculine: "male",
  m: "male",
};

/** The voice meant by a gender word or by a voice's name or id, in any case; null when none is. */
export function chooseVoice(
  catalogue: Catalogue,
  text: string,
  within?: string,
): ChosenVoice | null {
  const wanted = text.trim().toLowerCase();
  const gender = GENDERS[wanted];
  for (const { provider, models, voices } of catalogue.voiceProviders) {
    if (within !== undefined && provider !== within) continue;
    const voice = voices.find((candidate) =>
      gender
        ? candidate.gender === gender
        : candidate.name.toLowerCase() === wanted || candidate.voice_id.toLowerCase() === wanted,
    );
    const [model] = models;
    if (voice && model) return { provider, model, voice };
  }
  return null;
}

export function voiceName(catalogue: Catalogue, provider: string, voiceId: string): string | null {
  return (
    catalogue.voiceProviders
      .find((entry) => entry.provider === provider)
      ?.voices.find((voice) => voice.voice_id === voiceId)?.name ?? null
  );
}
