import * as fc from "fast-check";
import { expect, test } from "vitest";
import { encodeMulaw } from "../../../../src/voice/audio/mulaw.ts";
import { bytesFromPcm } from "../../../../src/voice/audio/pcm.ts";
import {
  parseWav,
  type WavEncoding,
  wavHeader,
  wavToPcm,
} from "../../../../src/voice/audio/wav.ts";
import { holds } from "../holds.ts";

function file(data: Uint8Array, sampleRate: number, encoding: WavEncoding, channels = 1) {
  return Uint8Array.of(...wavHeader(data.length, sampleRate, { encoding, channels }), ...data);
}

function pcmOf(bytes: Uint8Array) {
  const result = parseWav(bytes);
  if (!result.ok) return expect.fail(result.code);
  return [...wavToPcm(result.wav)];
}

test("16-bit PCM comes back as written, with its facts", () => {
  const pcm = Int16Array.of(0, 1, -1, 32767, -32768);
  const bytes = file(bytesFromPcm(pcm), 16000, "pcm16");
  expect(pcmOf(bytes)).toEqual([...pcm]);
  expect(parseWav(bytes)).toMatchObject({
    ok: true,
    wav: { encoding: "pcm16", channels: 1, sampleRate: 16000, durationSeconds: 5 / 16000 },
  });
});

test.each<[WavEncoding, number[], number[]]>([
  ["pcm8", [128, 255, 0], [0, 127 * 256, -32768]],
  ["pcm24", [0, 0, 0, 0xff, 0x34, 0x12, 0, 0, 0x80], [0, 0x1234, -32768]],
  ["mulaw", [...encodeMulaw(Int16Array.of(0, 1000))], [0, 988]],
])("%s becomes 16-bit PCM", (encoding, data, expected) => {
  expect(pcmOf(file(Uint8Array.from(data), 8000, encoding))).toEqual(expected);
});

test("two channels are mixed into one", () => {
  const stereo = bytesFromPcm(Int16Array.of(100, 300, -100, -300));
  expect(pcmOf(file(stereo, 8000, "pcm16", 2))).toEqual([200, -200]);
});

test("other chunks are stepped over, odd ones with their padding", () => {
  const plain = file(bytesFromPcm(Int16Array.of(7)), 8000, "pcm16");
  const list = Uint8Array.of(...new TextEncoder().encode("LIST"), 3, 0, 0, 0, 1, 2, 3, 0);
  expect(pcmOf(Uint8Array.of(...plain.slice(0, 36), ...list, ...plain.slice(36)))).toEqual([7]);
});

test("the extensible format is read by its sub-format", () => {
  const plain = file(bytesFromPcm(Int16Array.of(7)), 8000, "pcm16");
  const extra = new Uint8Array(24);
  extra.set([22, 0, 16, 0, 4, 0, 0, 0, 1, 0]);
  const bytes = Uint8Array.of(...plain.slice(0, 36), ...extra, ...plain.slice(36));
  bytes[16] = 40;
  bytes.set([0xfe, 0xff], 20);
  expect(pcmOf(bytes)).toEqual([7]);
});

test("a file cut off keeps the whole samples that are there", () => {
  const bytes = file(bytesFromPcm(Int16Array.of(1, 2, 3)), 8000, "pcm16");
  expect(pcmOf(bytes.slice(0, 49))).toEqual([1, 2]);
});

test("another codec is unsupported, no WAV is not_wav, and no bytes make the parser throw", () => {
  const float = file(new Uint8Array(8), 8000, "pcm16");
  float[20] = 3;
  expect(parseWav(float)).toEqual({ ok: false, code: "unsupported" });
  expect(parseWav(new Uint8Array(3))).toEqual({ ok: false, code: "not_wav" });
  const start = file(new Uint8Array(4), 8000, "pcm16");
  holds(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(44), (noise, keep) => {
      const result = parseWav(Uint8Array.of(...start.slice(0, keep), ...noise));
      if (result.ok) wavToPcm(result.wav);
    }),
  );
});
