import { afterEach, describe, expect, test, vi } from "vitest";
import { carry, spokenWithText } from "../../../dev/carried-text.ts";
import { deepgramTranscriber } from "../../../src/adapters/deepgram/transcriber.ts";
import { openAiSpeaker } from "../../../src/adapters/openai/speaker.ts";
import type { Transcriber, TranscriberEvent } from "../../../src/ports/transcriber.ts";
import { concatPcm } from "../../../src/voice/audio/pcm.ts";
import { codeOf, collect, received, script, worldUrl } from "./world.ts";

type Create = (model: string, connectTimeoutMs?: number) => Transcriber;

const adapters: [string, Create][] = [
  [
    "Deepgram",
    (model, connectTimeoutMs = 10_000) =>
      deepgramTranscriber({
        baseUrl: `${worldUrl}/transcriber`,
        apiKey: "key",
        model,
        connectTimeoutMs,
      }),
  ],
];

const rate = 16000;
const silence = (ms: number) => new Int16Array((rate * ms) / 1000);

/** A session in which `heard` fills up; `feed` sends frames of 20 ms as a call does. */
async function listen(transcriber: Transcriber) {
  const heard: TranscriberEvent[] = [];
  const session = await transcriber.open({
    sampleRate: rate,
    language: "en",
    onEvent: (event) => heard.push(event),
  });
  const feed = (pcm: Int16Array) => {
    for (let at = 0; at < pcm.length; at += rate / 50)
      session.feed(pcm.subarray(at, at + rate / 50));
  };
  const ends = () => heard.filter(({ type }) => type === "end_of_turn" || type === "lost");
  return { session, heard, feed, ends };
}

afterEach(() => {
  vi.useRealTimers();
});

describe.each(adapters)("%s as a transcriber", (_, create) => {
  test("a turn is its onset, what is known of it, and the whole of it", async () => {
    const { session, heard, feed, ends } = await listen(create("turn"));
    feed(concatPcm([silence(200), carry("Where is my order?", rate), silence(500)]));
    await vi.waitFor(() => expect(ends()).toHaveLength(1));
    expect(heard).toEqual([
      { type: "speech_started" },
      { type: "partial", text: "Where" },
      { type: "partial", text: "Where is" },
      { type: "partial", text: "Where is my" },
      { type: "partial", text: "Where is my order?" },
      { type: "end_of_turn", text: "Where is my order?" },
    ]);
    session.close();
  });

  test("real speech comes back as the words that were spoken", async () => {
    const speaker = openAiSpeaker({
      baseUrl: `${worldUrl}/speech/openai/v1`,
      apiKey: "key",
      firstAudioTimeoutMs: 10_000,
    });
    const text = "Good evening. A table for two, please.";
    const { signal } = new AbortController();
    const wanted = {
      text,
      voice: "nova",
      model: "tts-1",
      language: "en",
      sampleRate: rate,
      signal,
    };
    const speech = concatPcm(await collect(speaker.speak(wanted)));
    const { session, feed, ends } = await listen(create("speech"));
    feed(spokenWithText(text, rate, speech));
    await vi.waitFor(() => expect(ends()).toEqual([{ type: "end_of_turn", text }]));
    session.close();
  });

  test("final pieces are one turn, and nothing said is no turn", async () => {
    const { session, feed, ends } = await listen(create("pieces"));
    feed(concatPcm([carry("My name is", rate), carry("Ada", rate), silence(3000)]));
    feed(concatPcm([carry("Bye", rate), silence(500)]));
    await vi.waitFor(() =>
      expect(ends()).toEqual([
        { type: "end_of_turn", text: "My name is Ada" },
        { type: "end_of_turn", text: "Bye" },
      ]),
    );
    session.close();
  });

  test("a line that drops is told once", async () => {
    await script("transcriber", { sessions: [{ match: "model=dropping", dropAfterMs: 400 }] });
    const { session, heard, feed } = await listen(create("dropping"));
    feed(silence(500));
    await vi.waitFor(() => expect(heard).toEqual([{ type: "lost", code: "unavailable" }]));
    feed(silence(100));
    session.close();
    expect(heard).toHaveLength(1);
  });

  test("after close nothing is told any more, and the vendor is told to stop", async () => {
    const model = "closing";
    const { session, heard, feed } = await listen(create(model));
    feed(carry("Never heard", rate));
    session.close();
    session.close();
    const closed = { kind: "transcriber", model, event: "close" };
    await vi.waitFor(async () => expect(await received(closed)).toMatchObject([{ code: 1000 }]));
    expect(await received({ ...closed, event: "CloseStream" })).toHaveLength(1);
    expect(heard.filter(({ type }) => type !== "speech_started")).toEqual([]);
  });

  test.each([
    [401, "refused"],
    [503, "unavailable"],
  ])("status %i is %s", async (status, code) => {
    await script("transcriber", { sessions: [{ match: `model=status-${status}`, status }] });
    expect(await codeOf(listen(create(`status-${status}`)))).toBe(code);
  });

  test("a vendor that does not answer is a timeout", async () => {
    await script("transcriber", { sessions: [{ match: "model=mute", delayMs: 60_000 }] });
    expect(await codeOf(listen(create("mute", 50)))).toBe("timeout");
  });

  test("the line is kept open while nothing is said, and only then", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const model = "quiet";
    const { session, feed } = await listen(create(model));
    const keptAlive = () => received({ kind: "transcriber", model, event: "KeepAlive" });
    feed(silence(100));
    vi.advanceTimersByTime(12_000);
    await expect.poll(keptAlive).toHaveLength(2);
    session.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});
