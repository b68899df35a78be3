import { afterEach, describe, expect, test, vi } from "vitest";
import { openAiModel } from "../../../src/adapters/openai/model.ts";
import { workersAiModel } from "../../../src/adapters/workers-ai/model.ts";
import type { Model } from "../../../src/ports/model.ts";
import { ai } from "../../support/worker/ai.ts";
import { codeOf, collect, received, script, worldUrl } from "./world.ts";

type Timeouts = { firstTokenTimeoutMs: number; idleTimeoutMs?: number; answerTimeoutMs?: number };
type Create = (timeouts: Timeouts) => Model;

const patient: Timeouts = { firstTokenTimeoutMs: 10_000, idleTimeoutMs: 10_000 };

const adapters: [string, Create][] = [
  [
    "OpenAI",
    (timeouts) => openAiModel({ baseUrl: `${worldUrl}/model/v1`, apiKey: "key", ...timeouts }),
  ],
  ["Workers AI", (timeouts) => workersAiModel({ ai, ...timeouts })],
];

const say = (content: string, signal = new AbortController().signal) => ({
  model: "gpt-4o-mini",
  messages: [{ role: "user", content }] as const,
  signal,
});

const structured = {
  schemaName: "analysis",
  schema: {
    type: "object",
    properties: { sentiment: { type: "string", enum: ["positive", "neutral", "negative"] } },
    required: ["sentiment"],
    additionalProperties: false,
  },
};

afterEach(() => {
  vi.useRealTimers();
});

describe.each(adapters)("%s as a model", (name, create) => {
  test("a reply comes in pieces, in order, none of them empty", async () => {
    const pieces = await collect(create(patient).stream(say("I lost my parcel")));
    expect(pieces.join("")).toBe(
      "You said: I lost my parcel. How would you like me to help with that?",
    );
    expect(pieces.length).toBeGreaterThan(5);
    expect(pieces).not.toContain("");
  });

  test("a structured answer is parsed", async () => {
    const request = { ...say("user: that was great, thank you"), ...structured };
    expect(await create(patient).answer(request)).toEqual({ sentiment: "positive" });
  });

  test("an answer that is no JSON is garbled", async () => {
    await script("model", { replies: [{ match: "no json", text: "Sure! {" }] });
    expect(await codeOf(create(patient).answer({ ...say("no json"), ...structured }))).toBe(
      "garbled",
    );
  });

  test.each([
    [401, "refused"],
    [400, "refused"],
    [429, "unavailable"],
    [503, "unavailable"],
  ])("status %i is %s", async (status, code) => {
    const text = `model status ${status}`;
    await script("model", {
      replies: [
        { match: text, status },
        { match: text, status },
      ],
    });
    expect(await codeOf(collect(create(patient).stream(say(text))))).toBe(code);
    expect(await codeOf(create(patient).answer({ ...say(text), ...structured }))).toBe(code);
  });

  test("a model that does not begin, stops in the middle or never answers is a timeout", async () => {
    await script("model", {
      replies: [
        { match: "silent", delayMs: 60_000 },
        { match: "stalling", text: "Well then", tokenDelayMs: 1000 },
        { match: "pondering", delayMs: 60_000 },
      ],
    });
    const silent = create({ firstTokenTimeoutMs: 50 }).stream(say("silent"));
    expect(await codeOf(collect(silent))).toBe("timeout");
    const stalling = create({ ...patient, idleTimeoutMs: 50 }).stream(say("stalling"));
    const heard: string[] = [];
    const listening = (async () => {
      for await (const piece of stalling) heard.push(piece);
    })();
    expect(await codeOf(listening)).toBe("timeout");
    expect(heard).toEqual(["Well"]);
    const pondering = create({ ...patient, answerTimeoutMs: 50 });
    expect(await codeOf(pondering.answer({ ...say("pondering"), ...structured }))).toBe("timeout");
  });

  test("a listener that takes its time is no timeout", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const pieces: string[] = [];
    for await (const piece of create(patient).stream(say("hello"))) {
      pieces.push(piece);
      vi.advanceTimersByTime(60_000);
    }
    expect(pieces.join("")).toBe("Hello! How can I help you today?");
  });

  test("a reply that breaks off is unavailable", async () => {
    await script("model", {
      replies: [{ match: "break off", text: "a b c", breakAfterTokens: 2 }],
    });
    expect(await codeOf(collect(create(patient).stream(say("break off"))))).toBe("unavailable");
  });

  test("aborting ends the reply and closes the request upstream", async () => {
    const text = `abort me, ${name}`;
    await script("model", { replies: [{ match: text, text: "a b c d", tokenDelayMs: 500 }] });
    const controller = new AbortController();
    const reply = create(patient).stream(say(text, controller.signal))[Symbol.asyncIterator]();
    await reply.next();
    controller.abort();
    expect(await codeOf(reply.next())).toBe("aborted");
    await vi.waitFor(async () =>
      expect(await received({ kind: "model_left", text })).toHaveLength(1),
    );
  });

  test("after an abort nothing more is told, not even what has arrived", async () => {
    const controller = new AbortController();
    const reply = create(patient).stream(say("hello", controller.signal))[Symbol.asyncIterator]();
    expect(await reply.next()).toEqual({ done: false, value: "Hello!" });
    controller.abort();
    expect(await codeOf(reply.next())).toBe("aborted");
    expect(await codeOf(collect(create(patient).stream(say("hi", controller.signal))))).toBe(
      "aborted",
    );
  });

  test("a listener that leaves closes the request upstream", async () => {
    const text = `leave me, ${name}`;
    await script("model", { replies: [{ match: text, text: "a b c d", tokenDelayMs: 500 }] });
    for await (const _piece of create(patient).stream(say(text))) break;
    await vi.waitFor(async () =>
      expect(await received({ kind: "model_left", text })).toHaveLength(1),
    );
  });
});
