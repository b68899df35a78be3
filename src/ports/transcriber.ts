import type { FailureCode } from "./failure.ts";

export type TranscriberEvent =
  /** The caller began to make sounds that look like speech. */
  | { type: "speech_started" }
  /** The utterance so far; later events may change it. */
  | { type: "partial"; text: string }
  /** The caller finished: the whole utterance. Never empty. */
  | { type: "end_of_turn"; text: string }
  /** The caller has probably finished; `turn_resumed` takes it back, `end_of_turn` confirms it. */
  | { type: "eager_end_of_turn"; text: string }
  | { type: "turn_resumed" }
  /** The session is gone and will send nothing more. */
  | { type: "lost"; code: FailureCode };

export type TranscriberOptions = {
  /** Hz of the mono PCM that `feed` will bring. */
  sampleRate: number;
  /** BCP-47. */
  language: string;
  /** Called from the session's own socket events; never after `close`. */
  onEvent(event: TranscriberEvent): void;
};

/** Lives as long as the call, or until `lost`. */
export type TranscriberSession = {
  /** Mono 16-bit PCM of any length; what arrives before the socket is open is kept. */
  feed(pcm: Int16Array): void;
  /** Ends the session. Safe to call twice. */
  close(): void;
};

/** Speech to text in real time. */
export type Transcriber = {
  /**
   * Its end of turn is no more than so much silence, ms; without it the recogniser judges by what
   * was said.
   */
  readonly silenceMs?: number;
  /** Resolves when audio can be fed; throws `PortError` when the vendor refuses or does not answer. */
  open(options: TranscriberOptions): Promise<TranscriberSession>;
};
