/**
 * What caller and stand-ins agree on. Frames carry marks in their first samples, far too quiet for
 * a voice detector, so that the recogniser's stand-in knows at once what happens in them.
 */
export const SAMPLE_RATE = 16_000;
export const FRAME_MS = 20;
const FRAME_SAMPLES = (SAMPLE_RATE * FRAME_MS) / 1_000;

const PREFIX = [101, -102];
const END_OF_TURN = 103;
const START_OF_SPEECH = -103;

/** What a caller can ask, and so what the agent answers. */
export const lines = [
  {
    asked: "Where is my order?",
    answered: "Your order is on its way to you.",
    ms: 200,
    paced: false,
  },
  { asked: "Tell me slowly.", answered: "It is told as it is spoken.", ms: 3_000, paced: true },
  { asked: "Tell me at once.", answered: "All of it comes in one go.", ms: 3_000, paced: false },
] as const;

/** An index of `lines`: a short answer; 3 s that come in real time; 3 s that come at once. */
export const SHORT = 0;
export const PACED = 1;
export const AT_ONCE = 2;

export type FrameMark = { type: "speech_started" } | { type: "end_of_turn"; line: number };

export const silence = bytes(() => 0);
/** Loud enough for any detector. */
export const loud = bytes(tone);
export const loudStart = bytes((at) => [...PREFIX, START_OF_SPEECH, 0][at] ?? tone(at));
export const endOfTurn = lines.map((_, line) =>
  bytes((at) => [...PREFIX, END_OF_TURN, line][at] ?? 0),
);

export function markOf(frame: Buffer): FrameMark | null {
  if (frame.length < 8 || PREFIX.some((sample, at) => frame.readInt16LE(2 * at) !== sample)) {
    return null;
  }
  switch (frame.readInt16LE(4)) {
    case START_OF_SPEECH:
      return { type: "speech_started" };
    case END_OF_TURN:
      return { type: "end_of_turn", line: frame.readInt16LE(6) };
    default:
      return null;
  }
}

function tone(at: number): number {
  return Math.round(8_000 * Math.sin((2 * Math.PI * 440 * at) / SAMPLE_RATE));
}

function bytes(sample: (at: number) => number): Uint8Array {
  return new Uint8Array(Int16Array.from({ length: FRAME_SAMPLES }, (_, at) => sample(at)).buffer);
}
