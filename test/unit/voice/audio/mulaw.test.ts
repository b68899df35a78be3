import { expect, test } from "vitest";
import { decodeMulaw, encodeMulaw } from "../../../../src/voice/audio/mulaw.ts";

test("every μ-law byte survives decoding and encoding, negative zero as zero", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
  const expected = bytes.map((byte) => (byte === 0x7f ? 0xff : byte));
  expect(encodeMulaw(decodeMulaw(bytes))).toEqual(expected);
});

test("known values of G.711", () => {
  expect([...encodeMulaw(Int16Array.of(0, -1, 32767, -32768))]).toEqual([0xff, 0x7f, 0x80, 0x00]);
  expect([...decodeMulaw(Uint8Array.of(0xff, 0x80, 0x00))]).toEqual([0, 32124, -32124]);
});

test("any sample comes back within its logarithmic step", () => {
  const pcm = Int16Array.from({ length: 65536 }, (_, i) => i - 32768);
  decodeMulaw(encodeMulaw(pcm)).forEach((sample, i) => {
    const original = pcm[i] ?? 0;
    const clipped = Math.max(-32635, Math.min(32635, original));
    if (Math.abs(sample - clipped) > 4 + Math.abs(clipped) / 30) {
      expect.fail(`${original} became ${sample}`);
    }
  });
});
