import type {
  Transcriber,
  TranscriberEvent,
  TranscriberSession,
} from "../../../ports/transcriber.ts";
import type { AudioFormat } from "../../../voice/audio/format.ts";
import { decodeMulaw } from "../../../voice/audio/mulaw.ts";
import { pcmFromBytes } from "../../../voice/audio/pcm.ts";
import { createResampler } from "../../../voice/audio/resample.ts";
import { createVad } from "../../../voice/audio/vad.ts";

/** What the recogniser and the voice detector work at, in Hz. */
const LISTENING_RATE = 16_000;
/** Audio kept while the recogniser's socket opens; older audio is dropped. */
const KEPT_SAMPLES = 30 * LISTENING_RATE;

/** The caller's audio on its way to words. Lives as long as the object stays awake. */
export type Hearing = {
  hear(frame: ArrayBuffer): void;
  close(): void;
};

export function openHearing(options: {
  transcriber: Transcriber;
  format: AudioFormat;
  language: string;
  onEvent(event: TranscriberEvent): void;
}): Hearing {
  const resampler = createResampler(options.format.sampleRate, LISTENING_RATE);
  const vad = createVad({ sampleRate: LISTENING_RATE });
  let session: TranscriberSession | null = null;
  let opening = false;
  let closed = false;
  let kept: Int16Array[] = [];
  let keptSamples = 0;

  async function open() {
    opening = true;
    try {
      const opened = await options.transcriber.open({
        sampleRate: LISTENING_RATE,
        language: options.language,
        onEvent: (event) => {
          // The next frame opens another one.
          if (event.type === "lost") session = null;
          if (!closed) options.onEvent(event);
        },
      });
      if (closed) return opened.close();
      for (const pcm of kept) opened.feed(pcm);
      session = opened;
    } catch {
      options.onEvent({ type: "lost", code: "unavailable" });
    } finally {
      kept = [];
      keptSamples = 0;
      opening = false;
    }
  }

  return {
    hear(frame) {
      if (closed) return;
      const bytes = new Uint8Array(frame);
      const heard = options.format.encoding === "mulaw" ? decodeMulaw(bytes) : pcmFromBytes(bytes);
      const pcm = resampler.push(heard);
      // The detector on the spot is faster than the recogniser's word, which comes over a network.
      if (vad.push(pcm).includes("start")) options.onEvent({ type: "speech_started" });
      if (session) return session.feed(pcm);
      kept.push(pcm);
      keptSamples += pcm.length;
      while (keptSamples > KEPT_SAMPLES) keptSamples -= kept.shift()?.length ?? 0;
      if (!opening) void open();
    },
    close() {
      closed = true;
      session?.close();
    },
  };
}
