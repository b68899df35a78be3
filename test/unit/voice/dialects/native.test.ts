import { expect, test } from "vitest";
import { native } from "../../../../src/voice/dialects/native.ts";

const read = (frame: string | ArrayBuffer) => native.read(frame, null, 0).messages;
const start = { type: "start", audio: null, input: null, textOnly: false };
const pcm = (sampleRate: number) => ({ encoding: "pcm16", sampleRate });

test.each([
  [{ type: "start" }, start],
  [
    { type: "start", text_only: true },
    { ...start, textOnly: true },
  ],
  [
    { type: "start", audio: {} },
    { ...start, audio: pcm(16_000) },
  ],
  [
    { type: "start", audio: { sampleRate: 48_000 } },
    { ...start, audio: pcm(48_000) },
  ],
  [
    { type: "start", audio: { encoding: "mulaw", sampleRate: 8_000 } },
    { ...start, audio: { encoding: "mulaw", sampleRate: 8_000 } },
  ],
  [
    { type: "user_text", text: "Hello" },
    { type: "user_text", text: "Hello" },
  ],
  [
    { type: "mark", name: "turn-1-0" },
    { type: "mark", name: "turn-1-0" },
  ],
  [{ type: "interrupt" }, { type: "interrupt" }],
  [{ type: "end" }, { type: "end" }],
])("%j is understood", (frame, message) => {
  expect(read(JSON.stringify(frame))).toEqual([message]);
});

test.each([
  ["{", "bad_json"],
  ["[]", "bad_json"],
  ['{"type":"dance"}', "unknown_type"],
  ['{"type":"start","audio":{"encoding":"mp3"}}', "bad_message"],
  ['{"type":"start","audio":{"sampleRate":16001}}', "bad_message"],
  ['{"type":"user_text","text":" "}', "bad_message"],
  ['{"type":"user_text","text":"\\ud800"}', "bad_message"],
  ['{"type":"mark"}', "bad_message"],
])("%s is an error, %s", (frame, code) => {
  expect(read(frame)).toMatchObject([{ type: "error", code }]);
});

test("audio is binary both ways", () => {
  const bytes = Uint8Array.of(1, 2, 3, 4);
  expect(read(bytes.buffer)).toEqual([{ type: "audio", bytes: bytes.buffer }]);
  const piece = { bytes, format: native.audio, turnId: 1 };
  expect(native.speak(piece, null, 0).frames).toEqual([bytes]);
});
