/** `start` and `end` mark the frame on which speech was established or had been over long enough. */
export type VadEvent = "silence" | "start" | "speech" | "end";

export type Vad = {
  /** Mono PCM of any length; one event for each 20 ms frame it completes, in order. */
  push(pcm: Int16Array): VadEvent[];
};

const frameMs = 20;
/** Frames of voice before speech has started: 60 ms, so that a click does not interrupt. */
const onsetFrames = 3;
/** Frames of quiet before speech has ended: 500 ms, so that a pause between words does not. */
const hangoverFrames = 25;
/** Decibels above the noise floor that count as voice, and the extra that hiss must have. */
const aboveFloor = 9;
const aboveFloorForHiss = 21;
const quietestVoice = -48;
/** Share of samples that cross zero: voice is far below, hiss above. */
const hissCrossings = 0.55;
const startFloor = -55;
/** How fast the noise floor follows: down at once, up slowly, and during speech hardly at all. */
const floorDown = 0.3;
const floorUp = 0.02;
const floorUpInSpeech = 0.002;

/** Finds the onset of speech by energy over an adaptive noise floor and by zero crossings. */
export function createVad({ sampleRate }: { sampleRate: number }): Vad {
  const frame = new Int16Array(Math.round((sampleRate * frameMs) / 1000));
  const classify = createClassifier();
  let filled = 0;
  return {
    push(pcm) {
      const events: VadEvent[] = [];
      for (let at = 0; at < pcm.length; ) {
        const piece = pcm.subarray(at, at + frame.length - filled);
        frame.set(piece, filled);
        filled += piece.length;
        at += piece.length;
        if (filled < frame.length) break;
        filled = 0;
        events.push(classify(frame));
      }
      return events;
    },
  };
}

function createClassifier(): (frame: Int16Array) => VadEvent {
  let floor = startFloor;
  let voicedRun = 0;
  let quietRun = 0;
  let speaking = false;
  return (frame) => {
    const { decibels, crossings } = measure(frame);
    const rise = speaking ? floorUpInSpeech : floorUp;
    floor += (decibels < floor ? floorDown : rise) * (decibels - floor);

    const needed = crossings < hissCrossings ? aboveFloor : aboveFloorForHiss;
    const voiced = decibels > quietestVoice && decibels > floor + needed;
    quietRun = voiced ? 0 : quietRun + 1;
    voicedRun = voiced ? voicedRun + 1 : Math.max(0, voicedRun - 1);

    if (!speaking && voicedRun >= onsetFrames) {
      speaking = true;
      return "start";
    }
    if (speaking && quietRun >= hangoverFrames) {
      speaking = false;
      voicedRun = 0;
      return "end";
    }
    return speaking ? "speech" : "silence";
  };
}

function measure(frame: Int16Array): { decibels: number; crossings: number } {
  // A constant offset is no sound, but would hide every crossing of zero.
  let sum = 0;
  for (let i = 0; i < frame.length; i++) sum += frame[i] as number;
  const offset = sum / frame.length;
  let energy = 0;
  let crossings = 0;
  let previous = 0;
  for (let i = 0; i < frame.length; i++) {
    const sample = (frame[i] as number) - offset;
    energy += sample * sample;
    if (sample >= 0 !== previous >= 0) crossings++;
    previous = sample;
  }
  const power = energy / frame.length / 32768 ** 2;
  return { decibels: 10 * Math.log10(power + 1e-10), crossings: crossings / frame.length };
}
