export type SpeechRequest = {
  text: string;
  /** The vendor's own id of the voice and name of the model; aliases are resolved before. */
  voice: string;
  model: string;
  /** BCP-47. */
  language: string;
  /** Hz of the audio wanted; an adapter whose vendor has no such rate resamples. */
  sampleRate: number;
  /** Aborting closes the request upstream. */
  signal: AbortSignal;
};

/** Text to speech. It holds nothing between calls. */
export type Speaker = {
  /** Mono 16-bit PCM in pieces as they arrive, never an empty one. Throws `PortError`. */
  speak(request: SpeechRequest): AsyncIterable<Int16Array>;
};
