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
import { withPatience } from "./patience.ts";

/** What the recogniser and the voice detector work at, in Hz. */
const LISTENING_RATE = 16_000;
/** Audio kept while the recogniser's socket opens; older audio is dropped. */
const WAITING_SAMPLES = 30 * LISTENING_RATE;
/** Audio of the utterance under way that a new recogniser hears again when one was lost. */
const REPLAYED_SAMPLES = 2 * LISTENING_RATE;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 8_000;

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
  const { transcriber, language, format } = options;
  const resampler = createResampler(format.sampleRate, LISTENING_RATE);
  const vad = createVad({ sampleRate: LISTENING_RATE });
  const recent = recentAudio();
  const onEvent = (event: TranscriberEvent) => {
    if (!closed) options.onEvent(event);
  };
  const { silenceMs } = transcriber;
  const turns =
    silenceMs === undefined
      ? { take: onEvent, stop: () => undefined }
      : withPatience({ language, silenceMs, onEvent });
  let session: TranscriberSession | null = null;
  let closed = false;
  let opening = false;
  /** Sessions in a row that were refused, or lost before they had heard anything. */
  let failures = 0;

  async function open() {
    opening = true;
    // The first one lost is replaced at once: most lines break only once.
    if (failures > 1) await pause(Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 2)));
    try {
      if (closed) return;
      const sampleRate = LISTENING_RATE;
      const opened = await transcriber.open({ sampleRate, language, onEvent: told });
      if (closed) return opened.close();
      for (const pcm of recent.all()) opened.feed(pcm);
      session = opened;
      recent.keep(REPLAYED_SAMPLES);
    } catch {
      failures += 1;
      turns.take({ type: "lost", code: "unavailable" });
    } finally {
      opening = false;
    }
  }

  function told(event: TranscriberEvent) {
    if (closed) return;
    if (event.type === "lost") {
      session = null;
      failures += 1;
      // The next frame opens another one.
      recent.keep(WAITING_SAMPLES);
    } else failures = 0;
    // What has become a turn must not be heard again.
    if (event.type === "end_of_turn") recent.clear();
    turns.take(event);
  }

  return {
    hear(frame) {
      if (closed) return;
      const bytes = new Uint8Array(frame);
      const heard = format.encoding === "mulaw" ? decodeMulaw(bytes) : pcmFromBytes(bytes);
      const pcm = resampler.push(heard);
      // The detector on the spot is faster than the recogniser's word, which comes over a network.
      if (vad.push(pcm).includes("start")) turns.take({ type: "speech_started" });
      recent.add(pcm);
      if (session) session.feed(pcm);
      else if (!opening) void open();
    },
    close() {
      closed = true;
      turns.stop();
      session?.close();
    },
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The last audio, as much of it as is asked to be kept. */
function recentAudio() {
  let pieces: Int16Array[] = [];
  let samples = 0;
  let most = WAITING_SAMPLES;
  const trim = () => {
    while (samples > most) samples -= pieces.shift()?.length ?? 0;
  };
  return {
    all: () => pieces,
    add(pcm: Int16Array) {
      pieces.push(pcm);
      samples += pcm.length;
      trim();
    },
    keep(wanted: number) {
      most = wanted;
      trim();
    },
    clear() {
      pieces = [];
      samples = 0;
    },
  };
}
