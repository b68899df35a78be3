/** Audio as it travels: mono, `pcm16` little-endian. */
export type AudioFormat = { encoding: "pcm16" | "mulaw"; sampleRate: number };

/** How long so many bytes of audio last. */
export function audioMs(bytes: number, { encoding, sampleRate }: AudioFormat): number {
  return (bytes / (encoding === "pcm16" ? 2 : 1) / sampleRate) * 1_000;
}
