import * as fc from "fast-check";
import { expect, test } from "vitest";
import { concatPcm } from "../../../../src/voice/audio/pcm.ts";
import { createVad } from "../../../../src/voice/audio/vad.ts";
import { holds } from "../holds.ts";
import { cut, noise, sine } from "./signals.ts";

/** Half a second of quiet noise, half a second of a loud tone, a second of noise. */
function scene(sampleRate: number) {
  const hiss = (seconds: number) => noise(sampleRate, seconds, 30);
  return concatPcm([hiss(0.5), sine(200, sampleRate, 0.5, 8000), hiss(1)]);
}

function transitions(pcm: Int16Array, sampleRate: number, sizes = [pcm.length]) {
  const vad = createVad({ sampleRate });
  const events = cut(pcm, sizes).flatMap((piece) => vad.push(piece));
  return events.flatMap((event, frame) => {
    return event === "start" || event === "end" ? [{ event, ms: (frame + 1) * 20 }] : [];
  });
}

test.each([8000, 16000, 22050, 24000])(
  "at %i Hz a voice is noticed within 100 ms and over after 500 ms of quiet",
  (rate) => {
    const found = transitions(scene(rate), rate);
    expect(found.map(({ event }) => event)).toEqual(["start", "end"]);
    expect(found[0]?.ms).toBeGreaterThan(500);
    expect(found[0]?.ms).toBeLessThanOrEqual(600);
    expect(found[1]?.ms).toBeGreaterThanOrEqual(1480);
    expect(found[1]?.ms).toBeLessThanOrEqual(1540);
  },
);

test("steady noise, silence and a click of 20 ms are no speech", () => {
  expect(transitions(noise(16000, 3, 60), 16000)).toEqual([]);
  expect(transitions(new Int16Array(48000), 16000)).toEqual([]);
  const click = sine(300, 16000, 0.02, 12000);
  expect(
    transitions(concatPcm([new Int16Array(8000), click, new Int16Array(8000)]), 16000),
  ).toEqual([]);
});

test("a pause between two words does not end the speech", () => {
  const word = sine(200, 16000, 0.3, 8000);
  const pause = noise(16000, 0.3, 30);
  const found = transitions(concatPcm([pause, word, pause, word, pause]), 16000);
  expect(found.map(({ event }) => event)).toEqual(["start"]);
});

test("how the audio is cut changes nothing", () => {
  const pcm = scene(8000);
  const whole = transitions(pcm, 8000);
  holds(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 6 }),
      (sizes) => {
        expect(transitions(pcm, 8000, sizes)).toEqual(whole);
      },
    ),
    30,
  );
});
