import type { AudioFormat } from "../../../voice/audio/format.ts";
import { encodeMulaw } from "../../../voice/audio/mulaw.ts";
import { bytesFromPcm, durationMs, samplesIn } from "../../../voice/audio/pcm.ts";
import type { TurnEvent } from "../../../voice/turn.ts";

export type Synthesis = (
  text: string,
  sampleRate: number,
  signal: AbortSignal,
) => AsyncIterable<Int16Array>;

/** The synthesis of one reply: chunks are asked for ahead, and sent one after the other. */
export type Speaking = {
  say(chunk: number, text: string, synthesise: Synthesis): void;
  /** Nothing more is sent from this moment on. */
  cancel(): void;
};

/** Audio ahead of the listener is audio to take back when the caller interrupts. */
const MOST_AHEAD_MS = 1_000;
/** With no more than this left the client is given more: one timer for several frames. */
const REFILL_AT_MS = 700;
const FRAME_MS = 100;

export function openSpeaking(options: {
  turnId: number;
  format: AudioFormat;
  send(audio: Uint8Array<ArrayBuffer>): void;
  /** How much of what was sent the caller has yet to hear. */
  aheadMs(): number;
  onEvent(event: TurnEvent): void;
}): Speaking {
  const { turnId, format, aheadMs, onEvent } = options;
  const abort = new AbortController();
  let before: Promise<void> = Promise.resolve();

  async function sendPiece(chunk: number, pcm: Int16Array) {
    const samples = samplesIn(FRAME_MS, format.sampleRate);
    for (let at = 0; at < pcm.length; at += samples) {
      const frame = pcm.subarray(at, at + samples);
      const ms = durationMs(frame.length, format.sampleRate);
      // Again and again: a mark may have shown that the listener is further behind.
      while (aheadMs() + ms > MOST_AHEAD_MS && !abort.signal.aborted) {
        await sleep(aheadMs() - REFILL_AT_MS, abort.signal);
      }
      if (abort.signal.aborted) return;
      // The client is told of audio before it gets any, and what is told may end the reply.
      onEvent({ type: "speech_audio", turnId, chunk, ms });
      if (abort.signal.aborted) return;
      options.send(format.encoding === "mulaw" ? encodeMulaw(frame) : bytesFromPcm(frame));
    }
  }

  async function sendChunk(chunk: number, audio: AsyncIterable<Int16Array>) {
    try {
      for await (const pcm of audio) {
        await sendPiece(chunk, pcm);
        if (abort.signal.aborted) return;
      }
      if (!abort.signal.aborted) onEvent({ type: "speech_done", turnId, chunk });
    } catch {
      if (!abort.signal.aborted) onEvent({ type: "speech_failed", turnId, chunk });
    }
  }

  return {
    say(chunk, text, synthesise) {
      const audio = readAhead(synthesise(text, format.sampleRate, abort.signal));
      before = before.then(() => sendChunk(chunk, audio));
    },
    cancel: () => abort.abort(),
  };
}

/** Ends early when it is aborted; never fails. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal.addEventListener("abort", wake);
    if (signal.aborted) wake();
  });
}

/**
 * Reads to the end at once, though what comes has to wait for its time to be heard: a vendor whose
 * answer is left lying takes the asking side for gone. So it is no generator itself: one of those
 * does nothing before its first piece is asked for.
 */
function readAhead(source: AsyncIterable<Int16Array>): AsyncGenerator<Int16Array> {
  const pieces: Int16Array[] = [];
  let wake = Promise.withResolvers<void>();
  let isOver = false;
  const reading = (async () => {
    try {
      for await (const piece of source) {
        pieces.push(piece);
        wake.resolve();
      }
    } finally {
      isOver = true;
      wake.resolve();
    }
  })();
  // Told when the pieces before the failure were taken; until then nobody listens.
  reading.catch(() => undefined);
  return (async function* () {
    for (;;) {
      const piece = pieces.shift();
      if (piece) yield piece;
      else if (isOver) return await reading;
      else {
        await wake.promise;
        wake = Promise.withResolvers<void>();
      }
    }
  })();
}
