import { createReader } from "../carried-text.ts";

/** Times are seconds of audio since the stream began: what is heard never depends on a clock. */
export type Heard =
  | { type: "started"; at: number }
  | { type: "partial"; text: string; start: number; end: number }
  /** A piece that will not change; the last of an utterance says so. */
  | { type: "segment"; text: string; start: number; end: number; last: boolean }
  | { type: "utterance_end"; lastWordEnd: number }
  /** The utterance may be over; `resumed` when it goes on. */
  | { type: "paused" }
  | { type: "resumed" };

export type ListenerOptions = {
  sampleRate: number;
  /** Silence that ends an utterance. */
  endpointingMs: number;
  /** Silence after which `utterance_end` follows; none without it. */
  utteranceEndMs?: number | undefined;
  /** Silence after which an utterance with text has `paused`; never without it. */
  pauseMs?: number | undefined;
};

export type Listener = {
  push(pcm: Int16Array): Heard[];
  /** Ends the utterance now. */
  flush(): Heard[];
};

/** What the transcript says where there was a voice and nothing to read. */
export const withoutText = "[speech without carried text]";

const blockMs = 10;
/** About -38 dB of full scale: above a quiet line, below a voice. */
const loudRms = 400;
const onsetMs = 50;
/** Less than this is a cough, and only so much silence ends speech that nobody can read. */
const speechMs = 300;

type Utterance = {
  startMs: number;
  loudMs: number;
  /** The newest text that was read; older ones have left as segments. */
  text: string | undefined;
  /** The speech that belongs to the text lasts until here: its pauses end nothing. */
  holdUntilMs: number;
  paused: boolean;
};

/** Hears like a streaming recogniser: onset, words so far, final text once the caller is silent. */
export function createListener(options: ListenerOptions): Listener {
  const reader = createReader(options.sampleRate);
  const cut = createCutter(Math.round((options.sampleRate * blockMs) / 1000));
  let nowMs = 0;
  let loudRunMs = 0;
  let silenceMs = 0;
  let utterance: Utterance | undefined;
  let endedAtMs: number | undefined;

  const span = (startMs: number) => ({
    start: startMs / 1000,
    end: Math.max(startMs, nowMs - silenceMs) / 1000,
  });

  const begin = (): Heard[] => {
    const startMs = nowMs - loudRunMs;
    utterance = { startMs, loudMs: loudRunMs, text: undefined, holdUntilMs: 0, paused: false };
    endedAtMs = undefined;
    return [{ type: "started", at: startMs / 1000 }];
  };

  const read = (current: Utterance, block: Int16Array): Heard[] =>
    reader.push(block).flatMap((event): Heard[] => {
      if (event.type === "damaged" || !event.text.trim()) return [];
      const { start, end } = span(current.startMs);
      if (event.type === "partial") return [{ type: "partial", text: event.text, start, end }];
      const earlier = current.text;
      current.text = event.text.trim();
      current.holdUntilMs = nowMs + event.speechMs;
      const partial: Heard = { type: "partial", text: current.text, start, end };
      if (earlier === undefined) return [partial];
      return [{ type: "segment", text: earlier, start, end, last: false }, partial];
    });

  const end = (current: Utterance): Heard[] => {
    utterance = undefined;
    loudRunMs = 0;
    const text = current.text ?? (current.loudMs > speechMs ? withoutText : undefined);
    if (text === undefined) return [];
    endedAtMs = nowMs - silenceMs;
    return [{ type: "segment", text, ...span(current.startMs), last: true }];
  };

  const utteranceEnd = (): Heard[] => {
    const { utteranceEndMs } = options;
    if (utteranceEndMs === undefined || endedAtMs === undefined) return [];
    if (nowMs - endedAtMs < utteranceEndMs) return [];
    const lastWordEnd = endedAtMs / 1000;
    endedAtMs = undefined;
    return [{ type: "utterance_end", lastWordEnd }];
  };

  /** Asked before a block is read: what goes on is told before what it says. */
  const turnOf = (current: Utterance): Heard[] => {
    if (current.paused && silenceMs === 0) {
      current.paused = false;
      return [{ type: "resumed" }];
    }
    const { pauseMs = Number.POSITIVE_INFINITY } = options;
    const rests = silenceMs >= pauseMs && nowMs >= current.holdUntilMs;
    if (current.paused || !current.text || !rests) return [];
    current.paused = true;
    return [{ type: "paused" }];
  };

  const hear = (block: Int16Array): Heard[] => {
    const loud = rms(block) > loudRms;
    nowMs += blockMs;
    loudRunMs = loud ? loudRunMs + blockMs : 0;
    silenceMs = loud ? 0 : silenceMs + blockMs;
    const started = !utterance && loudRunMs >= onsetMs ? begin() : [];
    if (!utterance) {
      reader.push(block);
      return utteranceEnd();
    }
    if (loud) utterance.loudMs += blockMs;
    const heard = [...started, ...turnOf(utterance), ...read(utterance, block)];
    const over = silenceMs >= Math.max(options.endpointingMs, utterance.text ? 0 : speechMs);
    return over && nowMs >= utterance.holdUntilMs ? [...heard, ...end(utterance)] : heard;
  };

  return {
    push: (pcm) => cut(pcm).flatMap(hear),
    flush: () => (utterance ? end(utterance) : []),
  };
}

/** Blocks of `size` samples from pieces of any length. */
function createCutter(size: number): (pcm: Int16Array) => Int16Array[] {
  let held = new Int16Array(0);
  return (pcm) => {
    const all = new Int16Array(held.length + pcm.length);
    all.set(held);
    all.set(pcm, held.length);
    const whole = Math.floor(all.length / size);
    held = all.slice(whole * size);
    return Array.from({ length: whole }, (_, i) => all.subarray(i * size, (i + 1) * size));
  };
}

function rms(block: Int16Array): number {
  return Math.sqrt(block.reduce((sum, sample) => sum + sample * sample, 0) / block.length);
}
