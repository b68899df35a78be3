export type Voice = { id: string; name: string; gender: "female" | "male" };

/** Well-known voices of ElevenLabs and OpenAI, so that a real id sounds like its gender here too. */
export const elevenLabsVoices: readonly Voice[] = [
  { id: "21m00Tcm4TlvDq8ikWAM", name: "Rachel", gender: "female" },
  { id: "EXAVITQu4vr4xnSDxMaL", name: "Sarah", gender: "female" },
  { id: "XB0fDUnXU5powFXDhCwa", name: "Charlotte", gender: "female" },
  { id: "pNInz6obpgDQGcFmaJgB", name: "Adam", gender: "male" },
  { id: "JBFqnCBsd6RMkjVDRZzb", name: "George", gender: "male" },
  { id: "TxGEqnHWrfWFTfGW9XjX", name: "Josh", gender: "male" },
  { id: "TX3LPaxmHKxFdv7VOQHJ", name: "Liam", gender: "male" },
];

const openAiVoices: readonly Voice[] = [
  ...["alloy", "coral", "nova", "sage", "shimmer", "marin"].map(
    (id): Voice => ({ id, name: id, gender: "female" }),
  ),
  ...["ash", "ballad", "cedar", "echo", "fable", "onyx", "verse"].map(
    (id): Voice => ({ id, name: id, gender: "male" }),
  ),
];

const variants = {
  female: ["+f2", "+f1", "+f3", "+f4", "+f5", "+belinda", "+steph"],
  male: ["", "+m1", "+m2", "+m3", "+m7"],
} as const;

/** The engine's variant for a voice: always the same for the same id, known or not. */
export function variantOf(id: string): string {
  const known = [...elevenLabsVoices, ...openAiVoices].find((voice) => voice.id === id);
  const choices = known ? variants[known.gender] : [...variants.female, ...variants.male];
  return choices[hash(id) % choices.length] ?? "";
}

function hash(text: string): number {
  return [...text].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) >>> 0, 7);
}
