import { setTimeout as delay } from "node:timers/promises";
import WebSocket from "ws";
import { endOfTurn, FRAME_MS, loud, loudStart, SAMPLE_RATE, SHORT, silence } from "./script.ts";

/** How an engine wants to be spoken to. */
export type Dialect = "native" | "peer";

/** One caller with an open microphone: a frame every 20 ms, from joining to closing. */
export type Caller = {
  /** Asks a line and resolves with the ms from its last frame to the first audio of the answer. */
  ask(line: number): Promise<number>;
  /**
   * Speaks for 200 ms into the answer; ms from the first loud frame to the word that playback shall
   * stop, null when none came. `unannounced`: the recogniser does not tell that speech began.
   */
  bargeIn(options: { unannounced: boolean }): Promise<number | null>;
  /** Resolves when the answer was played. */
  silent(): Promise<void>;
  /** A muted caller sends one frame a second, so that the call does not count as abandoned. */
  mute(isMuted: boolean): void;
  framesSent(): number;
  close(): void;
};

const ANSWER_WITHIN_MS = 10_000;
const STOP_WITHIN_MS = 600;
const BARGE_IN_FRAMES = 10;
const STOP: Record<Dialect, string> = { native: "clear", peer: "playback_interrupt" };

export async function joinCall(url: string, dialect: Dialect, beat: Metronome): Promise<Caller> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const queue: { frame: Uint8Array; sent?: (at: number) => void }[] = [];
  let heard: (() => void) | null = null;
  let stopped: (() => void) | null = null;
  let playsUntil = 0;
  let frames = 0;
  let isMuted = false;
  let ready: () => void = () => undefined;
  const isReady = new Promise<void>((resolve) => {
    ready = resolve;
  });
  const unplayed = () => Math.max(0, playsUntil - performance.now());

  socket.on("message", (data: Buffer, isBinary) => {
    if (isBinary) {
      playsUntil = performance.now() + unplayed() + (data.length / 2 / SAMPLE_RATE) * 1_000;
      heard?.();
      return;
    }
    const message = JSON.parse(data.toString());
    if (message.type === STOP[dialect]) {
      playsUntil = 0;
      stopped?.();
    } else if (message.type === "mark") {
      setTimeout(() => socket.send(JSON.stringify(message)), unplayed());
    } else if (message.type === "agent_audio_end" || message.status === "listening") ready();
  });
  await new Promise((resolve, reject) => {
    socket.on("open", resolve);
    socket.on("error", reject);
  });
  if (dialect === "peer") {
    socket.send(JSON.stringify({ type: "start_call", preferred_format: "pcm16" }));
  }
  const leave = beat((tick) => {
    if (isMuted && queue.length === 0 && tick % (1_000 / FRAME_MS) !== 0) return;
    const next = queue.shift();
    socket.send(next?.frame ?? silence);
    frames++;
    next?.sent?.(performance.now());
  });
  socket.on("close", leave);
  const speak = (frame: Uint8Array) =>
    new Promise<number>((sent) => {
      queue.push({ frame, sent });
    });
  await within(ANSWER_WITHIN_MS, isReady);

  const caller: Caller = {
    async ask(line) {
      const audio = new Promise<number>((resolve) => {
        heard = () => resolve(performance.now());
      });
      const sentAt = await speak(endOfTurn[line] ?? silence);
      const at = await within(ANSWER_WITHIN_MS, audio);
      heard = null;
      return at - sentAt;
    },
    async bargeIn({ unannounced }) {
      const told = new Promise<number>((resolve) => {
        stopped = () => resolve(performance.now());
      });
      const began = speak(unannounced ? loud : loudStart);
      for (let frame = 1; frame < BARGE_IN_FRAMES; frame++) queue.push({ frame: loud });
      const beganAt = await began;
      const at = await Promise.race([told, delay(STOP_WITHIN_MS, null)]);
      stopped = null;
      while (queue.length > 0) await delay(FRAME_MS);
      // Who was never told would play on; this caller has had enough either way.
      await caller.ask(SHORT);
      playsUntil = Math.min(playsUntil, performance.now() + 200);
      await caller.silent();
      return at === null ? null : at - beganAt;
    },
    async silent() {
      do await delay(unplayed() + 50);
      while (unplayed() > 0);
    },
    mute: (value) => {
      isMuted = value;
    },
    framesSent: () => frames,
    close: () => socket.close(1000),
  };
  await caller.silent();
  return caller;
}

async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  const late = new AbortController();
  const timeout = delay(ms, undefined, { signal: late.signal }).then(() => {
    throw new Error(`Nothing came within ${ms} ms`);
  });
  return Promise.race([promise, timeout]).finally(() => {
    late.abort();
    timeout.catch(() => undefined);
  });
}

/** Calls back every 20 ms with the number of the tick; returns what ends that. */
export type Metronome = (onTick: (tick: number) => void) => () => void;

const PHASES = 4;

/** One clock for all microphones, spread over four phases; what it misses it makes up for. */
export function startMetronome(): { beat: Metronome; stop(): void } {
  const phases = Array.from({ length: PHASES }, () => new Set<(tick: number) => void>());
  const began = performance.now();
  let beats = 0;
  let joined = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - began) * PHASES) / FRAME_MS);
    for (; beats < due; beats++) {
      const tick = Math.floor(beats / PHASES);
      for (const onTick of phases[beats % PHASES] ?? []) onTick(tick);
    }
  }, FRAME_MS / PHASES);
  return {
    beat(onTick) {
      const phase = phases[joined++ % PHASES];
      phase?.add(onTick);
      return () => phase?.delete(onTick);
    },
    stop: () => clearInterval(timer),
  };
}
