import * as fc from "fast-check";
import { expect, test } from "vitest";
import { concatPcm } from "../../../../src/voice/audio/pcm.ts";
import { createResampler } from "../../../../src/voice/audio/resample.ts";
import { holds } from "../holds.ts";
import { cut, noise, sine } from "./signals.ts";

function resample(pcm: Int16Array, from: number, to: number, sizes = [pcm.length]) {
  const resampler = createResampler(from, to);
  const pieces = cut(pcm, sizes).map((piece) => resampler.push(piece));
  return concatPcm([...pieces, resampler.flush()]);
}

/** Decibels of a sine in `pcm` over everything else: the best fitting sine is taken away. */
function signalToNoise(pcm: Int16Array, hz: number, sampleRate: number) {
  const middle = pcm.subarray(Math.round(sampleRate * 0.1), Math.round(sampleRate * 0.9));
  const angle = (i: number) => (2 * Math.PI * hz * i) / sampleRate;
  let sin = 0;
  let cos = 0;
  middle.forEach((sample, i) => {
    sin += (2 / middle.length) * sample * Math.sin(angle(i));
    cos += (2 / middle.length) * sample * Math.cos(angle(i));
  });
  let signal = 0;
  let rest = 0;
  middle.forEach((sample, i) => {
    const fitted = sin * Math.sin(angle(i)) + cos * Math.cos(angle(i));
    signal += fitted ** 2;
    rest += (sample - fitted) ** 2;
  });
  return { decibels: 10 * Math.log10(signal / rest), peak: Math.hypot(sin, cos) };
}

const rates: [number, number][] = [
  [8000, 16000],
  [16000, 8000],
  [24000, 16000],
  [22050, 16000],
  [48000, 16000],
  [44100, 16000],
  [16000, 24000],
  [22050, 8000],
];

test.each(rates)(
  "a tone of 1 kHz goes from %i to %i Hz above 60 dB and keeps its level",
  (from, to) => {
    const { decibels, peak } = signalToNoise(resample(sine(1000, from, 1), from, to), 1000, to);
    expect(decibels).toBeGreaterThan(60);
    expect(Math.abs(20 * Math.log10(peak / 16000))).toBeLessThan(0.1);
  },
);

test("a telephone's upper band survives: 3 kHz at 8 kHz loses less than half a decibel", () => {
  const { peak } = signalToNoise(resample(sine(3000, 16000, 1), 16000, 8000), 3000, 8000);
  expect(20 * Math.log10(peak / 16000)).toBeGreaterThan(-0.5);
});

test.each([
  [24000, 16000, 10000],
  [16000, 8000, 5500],
  [48000, 16000, 11000],
])("from %i to %i Hz a tone of %i Hz that no longer fits is silenced", (from, to, hz) => {
  const output = resample(sine(hz, from, 1), from, to).subarray(to / 10, to * 0.9);
  const loudest = Math.max(...output.map(Math.abs));
  expect(20 * Math.log10(loudest / 16000 + 1e-9)).toBeLessThan(-60);
});

test.each(rates)(
  "from %i to %i Hz the cuts of the input leave no trace in the output",
  (from, to) => {
    const signal = noise(from, 0.2, 12000);
    const whole = resample(signal, from, to);
    expect(whole.length).toBe(Math.ceil((signal.length * to) / from));
    holds(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 8 }),
        (sizes) => {
          expect(resample(signal, from, to, sizes)).toEqual(whole);
        },
      ),
      20,
    );
  },
);

test("a piece far longer than any frame is taken whole", () => {
  expect(resample(noise(8000, 5, 9000), 8000, 16000).length).toBe(80_000);
});

test("full scale is clipped, never wrapped", () => {
  const square = Int16Array.from({ length: 800 }, (_, i) => (i % 80 < 40 ? 32767 : -32768));
  const output = resample(square, 8000, 16000);
  const wrong = output.filter((sample, i) => {
    const inside = i % 160 > 20 && i % 160 < 60;
    return inside && sample < 20000;
  });
  expect(wrong.length).toBe(0);
});

test("equal rates hand the samples through", () => {
  const pcm = noise(16000, 0.02, 9000);
  expect(resample(pcm, 16000, 16000)).toEqual(pcm);
});

test("a rate no call uses is refused before it costs memory", () => {
  expect(() => createResampler(47999, 16000)).toThrow(RangeError);
});
