import { describe, expect, test } from "vitest";
import { carry, createReader, spokenWithText } from "../../dev/carried-text.ts";
import { decodeMulaw, encodeMulaw } from "../../src/voice/audio/mulaw.ts";
import { concatPcm } from "../../src/voice/audio/pcm.ts";
import { createResampler } from "../../src/voice/audio/resample.ts";
import { cut, noise, sine } from "../unit/voice/audio/signals.ts";

const texts = [
  "Yes",
  "Hello, how can I help you today?",
  "¿Dónde está mi pedido número 4792?",
  "नमस्ते, आप कैसे हैं?",
  "注文はどこですか",
  "~U~U UU ~~",
  "word ".repeat(60).trim(),
];

/** The way of a telephone call: μ-law at 8 kHz, up to 16 kHz for the transcriber, noise on top. */
function overThePhone(pcm: Int16Array, noisePeak: number): Int16Array {
  const up = createResampler(8000, 16000);
  const down = createResampler(16000, 8000);
  const line = decodeMulaw(encodeMulaw(pcm));
  const wide = cut(line, [160]).map((frame) => up.push(frame));
  const narrow = [...wide, up.flush()].map((frame) => down.push(frame));
  const received = concatPcm([...narrow, down.flush()]);
  const hiss = noise(8000, received.length / 8000 + 1, noisePeak);
  return received.map((sample, i) => sample + (hiss[i] ?? 0));
}

function read(pcm: Int16Array, sampleRate: number, sizes = [160]) {
  const reader = createReader(sampleRate);
  return cut(pcm, sizes).flatMap((piece) => reader.push(piece));
}

describe.each(texts)("%s", (text) => {
  test.each([0, 100, 800, 2000])("survives a phone line with noise of ±%i", (noisePeak) => {
    const call = concatPcm([new Int16Array(4000), carry(text, 8000), new Int16Array(800)]);
    const events = read(overThePhone(call, noisePeak), 8000);
    expect(events.filter((event) => event.type !== "partial")).toEqual([
      { type: "text", text, speechMs: 0 },
    ]);
  });
});

test.each([8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000])(
  "is read at %i Hz however the stream is cut",
  (rate) => {
    const call = concatPcm([carry("One two", rate), carry("three", rate), new Int16Array(rate)]);
    expect(read(call, rate, [1, 7, 333, 5000])).toEqual([
      { type: "partial", text: "One" },
      { type: "text", text: "One two", speechMs: 0 },
      { type: "text", text: "three", speechMs: 0 },
    ]);
  },
);

test("the frame says how much speech follows it, and 400 ms of silence end the sound", () => {
  const speech = sine(180, 16000, 1.5);
  const sound = spokenWithText("Good morning", 16000, speech);
  expect(read(sound, 16000).at(-1)).toEqual({
    type: "text",
    text: "Good morning",
    speechMs: 1500,
  });
  expect(sound.length).toBe(carry("Good morning", 16000).length + speech.length + 6400);
  expect(sound.subarray(-6400).every((sample) => sample === 0)).toBe(true);
});

test("a frame cut off in the middle is damaged, and the next one is read", () => {
  const half = carry("this will be cut off", 8000).subarray(0, 2400);
  const call = concatPcm([half, new Int16Array(800), carry("Again", 8000), new Int16Array(800)]);
  const events = read(call, 8000).filter((event) => event.type !== "partial");
  expect(events).toEqual([{ type: "damaged" }, { type: "text", text: "Again", speechMs: 0 }]);
});

test("a frame with a wrong bit is not taken for text", () => {
  const sound = carry("pay 100 euro", 8000);
  const other = carry("pay 900 euro", 8000);
  const spliced = concatPcm([other.subarray(0, 2400), sound.subarray(2400), new Int16Array(800)]);
  const texts = read(spliced, 8000).filter((event) => event.type === "text");
  expect(texts).toEqual([]);
});

test("tones and noise carry nothing", () => {
  const sounds = [noise(8000, 20, 8000), sine(440, 8000, 2), sine(1200, 8000, 2)];
  expect(read(concatPcm(sounds), 8000)).toEqual([]);
});
