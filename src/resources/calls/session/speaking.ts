import type { AudioFormat } from "../../../voice/audio/format.ts";
import { encodeMulaw } from "../../../voice/audio/mulaw.ts";
import { bytesFromPcm, durationMs } from "../../../voice/audio/pcm.ts";
import type { TurnEvent } from "../../../voice/turn.ts";

export type Synthesis = (
  text: string,
  sampleRate: number,
  signal: AbortSignal,
) => AsyncIterable<Int16Array>;

/** The synthesis of one reply: chunks are asked for ahead, and sent one after the other. */
export type Speaking = {
  say(chunk: number, text: string): void;
  /** Nothing more is sent from this moment on. */
  cancel(): void;
};

export function openSpeaking(options: {
  turnId: number;
  synthesise: Synthesis;
  format: AudioFormat;
  send(audio: Uint8Array<ArrayBuffer>): void;
  onEvent(event: TurnEvent): void;
}): Speaking {
  const { turnId, format } = options;
  const abort = new AbortController();
  let before: Promise<void> = Promise.resolve();

  async function sendChunk(chunk: number, ready: ReturnType<typeof readAhead>) {
    try {
      for await (const pcm of ready) {
        if (abort.signal.aborted) return;
        options.send(format.encoding === "mulaw" ? encodeMulaw(pcm) : bytesFromPcm(pcm));
        const ms = durationMs(pcm.length, format.sampleRate);
        options.onEvent({ type: "speech_audio", turnId, chunk, ms });
      }
      if (!abort.signal.aborted) options.onEvent({ type: "speech_done", turnId, chunk });
    } catch {
      if (!abort.signal.aborted) options.onEvent({ type: "speech_failed", turnId, chunk });
    }
  }

  return {
    say(chunk, text) {
      const ready = readAhead(options.synthesise(text, format.sampleRate, abort.signal));
      before = before.then(() => sendChunk(chunk, ready));
    },
    cancel: () => abort.abort(),
  };
}

/** Starts to read at once, though what comes may have to wait for the chunk before it. */
async function* readAhead(source: AsyncIterable<Int16Array>): AsyncGenerator<Int16Array> {
  const iterator = source[Symbol.asyncIterator]();
  let next = iterator.next();
  for (;;) {
    const { done, value } = await next;
    if (done) return;
    next = iterator.next();
    next.catch(() => undefined);
    yield value;
  }
}
