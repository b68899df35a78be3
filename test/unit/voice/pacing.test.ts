import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openSpeaking } from "../../../src/resources/calls/session/speaking.ts";
import type { TurnEvent } from "../../../src/voice/turn.ts";

const rate = 8000;
const format = { encoding: "pcm16", sampleRate: rate } as const;
const pcm = (ms: number) => new Int16Array((rate * ms) / 1000);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A listener that plays what it gets; `audio` is what the voice answers with, all at once. */
function listen(audio: () => Iterable<Int16Array>) {
  const events: TurnEvent[] = [];
  let endsAt = 0;
  let mostAhead = 0;
  const aheadMs = () => Math.max(0, endsAt - Date.now());
  const speaking = openSpeaking({
    turnId: 1,
    format,
    aheadMs,
    onEvent: (event) => events.push(event),
    send(bytes) {
      endsAt = Math.max(endsAt, Date.now()) + (bytes.length * 1000) / 2 / rate;
      mostAhead = Math.max(mostAhead, aheadMs());
    },
  });
  const say = (chunk: number) =>
    speaking.say(chunk, "", async function* () {
      yield* audio();
    });
  const sentMs = () =>
    events.reduce((sum, event) => sum + (event.type === "speech_audio" ? event.ms : 0), 0);
  return { say, cancel: speaking.cancel, events, sentMs, mostAhead: () => mostAhead, aheadMs };
}

test("no more than a second of audio is ahead of the listener, and it never runs dry", async () => {
  const { say, events, sentMs, mostAhead, aheadMs } = listen(() => [pcm(3000), pcm(1990)]);
  say(0);
  say(1);
  for (let ms = 0; ms < 8500; ms += 50) {
    await vi.advanceTimersByTimeAsync(50);
    expect(aheadMs()).toBeGreaterThan(0);
  }
  await vi.advanceTimersByTimeAsync(1000);
  expect(mostAhead()).toBeLessThanOrEqual(1000);
  expect(sentMs()).toBe(9980);
  expect(events.filter(({ type }) => type === "speech_done")).toEqual([
    { type: "speech_done", turnId: 1, chunk: 0 },
    { type: "speech_done", turnId: 1, chunk: 1 },
  ]);
});

test("nothing is sent after it was cancelled, whatever was waiting", async () => {
  const { say, cancel, events } = listen(() => [pcm(5000)]);
  say(0);
  say(1);
  await vi.advanceTimersByTimeAsync(1234);
  const before = events.length;
  cancel();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(events).toHaveLength(before);
  expect(vi.getTimerCount()).toBe(0);
});

test("a voice that breaks off is told after what it had said", async () => {
  const { say, events } = listen(function* () {
    yield pcm(300);
    throw new Error("gone");
  });
  say(0);
  await vi.advanceTimersByTimeAsync(100);
  expect(events.map(({ type }) => type)).toEqual([
    "speech_audio",
    "speech_audio",
    "speech_audio",
    "speech_failed",
  ]);
});
