import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  bytesFromPcm,
  concatPcm,
  createPcmReader,
  durationMs,
  pcmFromBytes,
  samplesIn,
} from "../../../../src/voice/audio/pcm.ts";
import { holds } from "../holds.ts";

test("bytes are little-endian and may start at an odd offset of their buffer", () => {
  const buffer = Uint8Array.of(9, 0x34, 0x12, 0xff, 0xff, 0x01);
  expect([...pcmFromBytes(buffer.subarray(1, 5))]).toEqual([0x1234, -1]);
  expect([...bytesFromPcm(Int16Array.of(0x1234, -1))]).toEqual([0x34, 0x12, 0xff, 0xff]);
});

test("half a sample at the end is dropped", () => {
  expect([...pcmFromBytes(Uint8Array.of(1, 0, 7).buffer)]).toEqual([1]);
});

test("a byte stream cut anywhere reads as the same samples", () => {
  holds(
    fc.property(fc.int16Array(), fc.array(fc.nat(5)), (pcm, sizes) => {
      const reader = createPcmReader();
      const bytes = bytesFromPcm(pcm);
      const pieces: Int16Array[] = [];
      let at = 0;
      for (const size of [...sizes, bytes.length]) {
        pieces.push(reader.push(bytes.subarray(at, at + size)));
        at += size;
      }
      expect(concatPcm(pieces)).toEqual(new Int16Array(pcm));
    }),
    200,
  );
});

test("bytes made from PCM do not change when the samples do", () => {
  const pcm = Int16Array.of(1);
  const bytes = bytesFromPcm(pcm);
  pcm[0] = 2;
  expect([...bytes]).toEqual([1, 0]);
});

test("durations and samples convert both ways", () => {
  expect(durationMs(320, 16000)).toBe(20);
  expect(samplesIn(20, 22050)).toBe(441);
});
