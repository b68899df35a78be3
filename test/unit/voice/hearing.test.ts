import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { TranscriberEvent, TranscriberOptions } from "../../../src/ports/transcriber.ts";
import { openHearing } from "../../../src/resources/calls/session/hearing.ts";
import { bytesFromPcm } from "../../../src/voice/audio/pcm.ts";

const frameSamples = 320;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Each session of the recogniser with the samples it was fed; `refusals` openings fail first. */
function recogniser({ silenceMs, refusals = 0 }: { silenceMs?: number; refusals?: number } = {}) {
  const sessions: { fed: number[]; tell: TranscriberOptions["onEvent"]; closed: boolean }[] = [];
  const openedAt: number[] = [];
  const heard: TranscriberEvent[] = [];
  let refused = 0;
  const hearing = openHearing({
    format: { encoding: "pcm16", sampleRate: 16_000 },
    language: "en",
    onEvent: (event) => heard.push(event),
    transcriber: {
      ...(silenceMs === undefined ? {} : { silenceMs }),
      async open({ onEvent }) {
        openedAt.push(Date.now());
        if (refused++ < refusals) throw new Error("refused");
        const session = { fed: [] as number[], tell: onEvent, closed: false };
        sessions.push(session);
        return {
          feed: (pcm) => void session.fed.push(pcm[0] ?? 0),
          close() {
            session.closed = true;
          },
        };
      },
    },
  });
  let count = 0;
  /** Frames of 20 ms that carry their own number, too quiet for a voice. */
  const listen = async (frames: number) => {
    for (let i = 0; i < frames; i++) {
      count += 1;
      hearing.hear(bytesFromPcm(new Int16Array(frameSamples).fill(count)).buffer);
      await vi.advanceTimersByTimeAsync(20);
    }
  };
  const tell = (event: TranscriberEvent) => sessions.at(-1)?.tell(event);
  return { hearing, sessions, heard, openedAt, listen, tell };
}

test("a recogniser that is lost is replaced, and hears the last two seconds again", async () => {
  const { sessions, listen, tell } = recogniser();
  await listen(150);
  tell({ type: "partial", text: "My name" });
  tell({ type: "lost", code: "unavailable" });
  await listen(10);
  expect(sessions).toHaveLength(2);
  expect(sessions[1]?.fed).toEqual(Array.from({ length: 110 }, (_, i) => 51 + i));
});

test("what has become a turn is not heard again", async () => {
  const { sessions, listen, tell } = recogniser();
  await listen(50);
  tell({ type: "end_of_turn", text: "My name is Ada." });
  await listen(20);
  tell({ type: "lost", code: "unavailable" });
  await listen(1);
  expect(sessions[1]?.fed).toEqual(Array.from({ length: 21 }, (_, i) => 51 + i));
});

test("a recogniser that refuses is asked again ever less often, and nothing is lost meanwhile", async () => {
  const { sessions, openedAt, listen } = recogniser({ refusals: 4 });
  await listen(200);
  expect(sessions[0]?.fed).toHaveLength(200);
  const gaps = openedAt.map((at, i) => at - (openedAt[i - 1] ?? at));
  expect(gaps.map((gap) => Math.round(gap / 100) * 100)).toEqual([0, 0, 300, 500, 1000]);
});

test("after close nothing is told, and no timer is left", async () => {
  const { hearing, sessions, heard, listen, tell } = recogniser({ silenceMs: 200 });
  await listen(2);
  tell({ type: "end_of_turn", text: "I want a pizza and" });
  hearing.close();
  await vi.advanceTimersByTimeAsync(5000);
  expect(sessions[0]?.closed).toBe(true);
  expect(heard).toEqual([{ type: "eager_end_of_turn", text: "I want a pizza and" }]);
  expect(vi.getTimerCount()).toBe(0);
});

test("where the end of a turn is judged by what was said, it is the end at once", async () => {
  const { heard, listen, tell } = recogniser();
  await listen(1);
  tell({ type: "end_of_turn", text: "I want a pizza and" });
  expect(heard).toEqual([{ type: "end_of_turn", text: "I want a pizza and" }]);
});

test("after a mere silence a whole sentence ends the turn at once, half of one later", async () => {
  const { heard, listen, tell } = recogniser({ silenceMs: 200 });
  await listen(1);
  tell({ type: "end_of_turn", text: "Where is my order?" });
  expect(heard).toEqual([{ type: "end_of_turn", text: "Where is my order?" }]);
  tell({ type: "end_of_turn", text: "I want a pizza and" });
  await vi.advanceTimersByTimeAsync(999);
  expect(heard.slice(1)).toEqual([{ type: "eager_end_of_turn", text: "I want a pizza and" }]);
  await vi.advanceTimersByTimeAsync(1);
  expect(heard.at(-1)).toEqual({ type: "end_of_turn", text: "I want a pizza and" });
});

test("utterances that follow each other quickly are one", async () => {
  const { heard, listen, tell } = recogniser({ silenceMs: 200 });
  await listen(1);
  tell({ type: "end_of_turn", text: "I want a pizza and" });
  await vi.advanceTimersByTimeAsync(900);
  tell({ type: "speech_started" });
  await vi.advanceTimersByTimeAsync(500);
  tell({ type: "partial", text: "a" });
  tell({ type: "partial", text: "a beer" });
  await vi.advanceTimersByTimeAsync(3000);
  tell({ type: "end_of_turn", text: "a beer." });
  expect(heard.slice(1)).toEqual([
    { type: "speech_started" },
    { type: "turn_resumed" },
    { type: "partial", text: "I want a pizza and a" },
    { type: "partial", text: "I want a pizza and a beer" },
    { type: "end_of_turn", text: "I want a pizza and a beer." },
  ]);
});

test("what was said before the recogniser was lost is a turn when nothing follows", async () => {
  const { heard, listen, tell } = recogniser({ silenceMs: 200 });
  await listen(1);
  tell({ type: "end_of_turn", text: "I want a pizza and" });
  tell({ type: "partial", text: "a" });
  tell({ type: "lost", code: "unavailable" });
  await vi.advanceTimersByTimeAsync(3000);
  expect(heard.at(-1)).toEqual({ type: "end_of_turn", text: "I want a pizza and" });
});
