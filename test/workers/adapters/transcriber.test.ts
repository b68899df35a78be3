import { afterEach, describe, expect, test, vi } from "vitest";
import { carry, spokenWithText } from "../../../dev/carried-text.ts";
import { byLanguage } from "../../../src/adapters/by-language.ts";
import { fluxTranscriber } from "../../../src/adapters/deepgram/flux.ts";
import { deepgramTranscriber } from "../../../src/adapters/deepgram/transcriber.ts";
import { openAiSpeaker } from "../../../src/adapters/openai/speaker.ts";
import { workersAiFlux, workersAiNova } from "../../../src/adapters/workers-ai/transcriber.ts";
import type { Transcriber, TranscriberEvent } from "../../../src/ports/transcriber.ts";
import { concatPcm } from "../../../src/voice/audio/pcm.ts";
import { ai } from "../../support/worker/ai.ts";
import { codeOf, collect, received, script, worldUrl } from "./world.ts";

type Create = (model: string, connectTimeoutMs?: number) => Transcriber;

type Adapter = {
  name: string;
  /** What a model's name begins with; the rest of it tells the tests' sessions apart. */
  family: string;
  create: Create;
  /** Whether an end of turn is announced before it is certain. */
  eager: boolean;
  /** What the vendor gets of two rounds without a sound. */
  quiet: { keepAlives: number; audioMs: number };
};

const baseUrl = `${worldUrl}/transcriber`;
const apiKey = "key";
const patience = 10_000;
const byMessage = { keepAlives: 2, audioMs: 0 };
const bySilence = { keepAlives: 0, audioMs: 2000 };

const adapters: Adapter[] = [
  {
    name: "Deepgram",
    family: "nova-3",
    create: (model, connectTimeoutMs = patience) =>
      deepgramTranscriber({ baseUrl, apiKey, model, connectTimeoutMs }),
    eager: false,
    quiet: byMessage,
  },
  {
    name: "Deepgram Flux",
    family: "flux-general-en",
    create: (model, connectTimeoutMs = patience) =>
      fluxTranscriber({
        baseUrl,
        apiKey,
        models: { english: model, multilingual: model },
        connectTimeoutMs,
      }),
    eager: true,
    quiet: bySilence,
  },
  {
    name: "Workers AI Nova",
    family: "@cf/deepgram/nova-3",
    create: (model, connectTimeoutMs = patience) => workersAiNova({ ai, model, connectTimeoutMs }),
    eager: false,
    quiet: byMessage,
  },
  {
    name: "Workers AI Flux",
    family: "@cf/deepgram/flux",
    create: (model, connectTimeoutMs = patience) => workersAiFlux({ ai, model, connectTimeoutMs }),
    eager: true,
    quiet: bySilence,
  },
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

describe.each(adapters)("$name as a transcriber", ({ family, create, eager, quiet }) => {
  const modelFor = (purpose: string) => `${family}-${purpose}`;
  const eagerEnd = (text: string) => (eager ? [{ type: "eager_end_of_turn", text }] : []);

  test("a turn is its onset, what is known of it, and the whole of it", async () => {
    const { session, heard, feed, ends } = await listen(create(modelFor("turn")));
    feed(concatPcm([silence(200), carry("Where is my order?", rate), silence(500)]));
    await vi.waitFor(() => expect(ends()).toHaveLength(1));
    expect(heard).toEqual([
      { type: "speech_started" },
      { type: "partial", text: "Where" },
      { type: "partial", text: "Where is" },
      { type: "partial", text: "Where is my" },
      { type: "partial", text: "Where is my order?" },
      ...eagerEnd("Where is my order?"),
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
    const { session, feed, ends } = await listen(create(modelFor("speech")));
    feed(spokenWithText(text, rate, speech));
    await vi.waitFor(() => expect(ends()).toEqual([{ type: "end_of_turn", text }]));
    session.close();
  });

  test("final pieces are one turn, and nothing said is no turn", async () => {
    const { session, feed, ends } = await listen(create(modelFor("pieces")));
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
    await script("transcriber", { sessions: [{ match: "-dropping", dropAfterMs: 400 }] });
    const { session, heard, feed } = await listen(create(modelFor("dropping")));
    feed(silence(500));
    await vi.waitFor(() => expect(heard).toEqual([{ type: "lost", code: "unavailable" }]));
    feed(silence(100));
    session.close();
    expect(heard).toHaveLength(1);
  });

  test("after close nothing is told any more, and the vendor is told to stop", async () => {
    const model = modelFor("closing");
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
    await script("transcriber", { sessions: [{ match: `-status-${status}`, status }] });
    expect(await codeOf(listen(create(modelFor(`status-${status}`))))).toBe(code);
  });

  test("a vendor that does not answer is a timeout", async () => {
    await script("transcriber", { sessions: [{ match: "-mute", delayMs: 60_000 }] });
    expect(await codeOf(listen(create(modelFor("mute"), 50)))).toBe("timeout");
  });

  test("the line is kept open while nothing is said, and only then", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const model = modelFor("quiet");
    const { session, feed } = await listen(create(model));
    feed(silence(100));
    vi.advanceTimersByTime(12_000);
    session.close();
    expect(vi.getTimerCount()).toBe(0);
    const closed = { kind: "transcriber", model, event: "close" };
    await expect
      .poll(() => received(closed))
      .toMatchObject([{ audioMs: 100 + quiet.audioMs, code: 1000 }]);
    const keepAlives = await received({ kind: "transcriber", model, event: "KeepAlive" });
    expect(keepAlives).toHaveLength(quiet.keepAlives);
  });

  test("a pause in a sentence ends no turn where the recogniser knows better", async () => {
    const { session, heard, feed, ends } = await listen(create(modelFor("pause")));
    feed(concatPcm([carry("I would like", rate), silence(180), carry("a table", rate)]));
    feed(silence(500));
    await vi.waitFor(() => expect(ends()).toHaveLength(1));
    const decisions = heard.filter(({ type }) => type !== "partial" && type !== "speech_started");
    expect(decisions).toEqual([
      ...eagerEnd("I would like"),
      ...(eager ? [{ type: "turn_resumed" }] : []),
      ...eagerEnd("I would like a table"),
      { type: "end_of_turn", text: "I would like a table" },
    ]);
    session.close();
  });
});

describe.each(adapters.filter(({ eager }) => eager))("$name", ({ family, create }) => {
  test("an early end is taken back when the turn goes on at once", async () => {
    const model = `${family}-hasty`;
    await script("transcriber", { sessions: [{ match: "-hasty", eagerAfterWords: 2 }] });
    const { session, heard, feed, ends } = await listen(create(model));
    feed(concatPcm([carry("Where is my order?", rate), silence(500)]));
    await vi.waitFor(() => expect(ends()).toHaveLength(1));
    expect(heard).toEqual([
      { type: "speech_started" },
      { type: "partial", text: "Where" },
      { type: "partial", text: "Where is" },
      { type: "eager_end_of_turn", text: "Where is" },
      { type: "turn_resumed" },
      { type: "partial", text: "Where is my" },
      { type: "partial", text: "Where is my order?" },
      { type: "eager_end_of_turn", text: "Where is my order?" },
      { type: "end_of_turn", text: "Where is my order?" },
    ]);
    session.close();
  });

  test("a stream that the vendor gives up is lost, once", async () => {
    await script("transcriber", { sessions: [{ match: "-failing", errorAfterMs: 200 }] });
    const { heard, feed } = await listen(create(`${family}-failing`));
    feed(silence(500));
    await vi.waitFor(() => expect(heard).toEqual([{ type: "lost", code: "unavailable" }]));
  });
});

test("Flux is told the language where its model knows several", async () => {
  const models = { english: "flux-english", multilingual: "flux-multilingual" };
  const flux = fluxTranscriber({ baseUrl, apiKey, models, connectTimeoutMs: patience });
  const opened = async (language: string) => {
    const session = await flux.open({ sampleRate: rate, language, onEvent: () => undefined });
    session.close();
  };
  await opened("en-GB");
  await opened("pt-BR");
  const open = { kind: "transcriber", event: "open" };
  expect(await received({ ...open, model: models.english })).toMatchObject([{ language: "en" }]);
  expect(await received({ ...open, model: models.multilingual })).toMatchObject([
    { language: "pt" },
  ]);
});

test("a call in a language that the first recogniser does not know gets the other one", async () => {
  const known = deepgramTranscriber({
    baseUrl,
    apiKey,
    model: "first",
    connectTimeoutMs: patience,
  });
  const other = deepgramTranscriber({
    baseUrl,
    apiKey,
    model: "other",
    connectTimeoutMs: patience,
  });
  const both = byLanguage(known, ["en"], other);
  for (const language of ["en-US", "pl"]) {
    const session = await both.open({ sampleRate: rate, language, onEvent: () => undefined });
    session.close();
  }
  const open = { kind: "transcriber", event: "open" };
  expect(await received({ ...open, model: "first" })).toMatchObject([{ language: "en-US" }]);
  expect(await received({ ...open, model: "other" })).toMatchObject([{ language: "pl" }]);
});
