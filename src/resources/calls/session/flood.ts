import { type AudioFormat, audioMs } from "../../../voice/audio/format.ts";

/** More than this is no client of ours: it would cost everybody else's calls. */
const MAX_FRAME_BYTES = 1024 * 1024;
const MAX_FRAMES_PER_SECOND = 1_000;
const SECONDS_ABOVE = 5;
/** Audio may run ahead of the clock by this much; what comes beyond is dropped. */
const MAX_AHEAD_MS = 30_000;

/** Watches one socket's frames; times are ms. It lives and dies with the object's memory. */
export function floodGuard() {
  let second = 0;
  let frames = 0;
  let secondsAbove = 0;
  let audioEndsAt = 0;
  let wasTold = false;
  return {
    /** Whether this frame makes the client's behaviour an abuse. */
    isAbuse(bytes: number, now: number): boolean {
      const current = Math.floor(now / 1_000);
      if (current !== second) {
        const isNext = current === second + 1;
        secondsAbove = isNext && frames > MAX_FRAMES_PER_SECOND ? secondsAbove + 1 : 0;
        second = current;
        frames = 0;
      }
      frames += 1;
      return bytes > MAX_FRAME_BYTES || secondsAbove >= SECONDS_ABOVE;
    },
    /** Whether a frame of audio is heard; an error is for the client, once for each run of drops. */
    admitAudio(bytes: number, format: AudioFormat, now: number): AudioVerdict {
      if (format.encoding === "pcm16" && bytes % 2 === 1)
        return { isTaken: false, error: oddAudio };
      const endsAt = Math.max(audioEndsAt, now) + audioMs(bytes, format);
      const isTaken = endsAt - now <= MAX_AHEAD_MS;
      const error = isTaken || wasTold ? null : tooFast;
      wasTold = !isTaken;
      if (isTaken) audioEndsAt = endsAt;
      return { isTaken, error };
    },
  };
}

type AudioVerdict = { isTaken: boolean; error: typeof oddAudio | typeof tooFast | null };

const oddAudio = {
  type: "error",
  code: "odd_audio",
  message: "A frame of pcm16 must have an even number of bytes",
} as const;

const tooFast = {
  type: "error",
  code: "audio_too_fast",
  message: "Audio came more than 30 seconds ahead of time; some of it is lost",
} as const;
