import { describe, expect, test, vi } from "vitest";
import { elevenLabsSpeaker } from "../../../src/adapters/elevenlabs/speaker.ts";
import { openAiSpeaker } from "../../../src/adapters/openai/speaker.ts";
import { workersAiSpeaker } from "../../../src/adapters/workers-ai/speaker.ts";
import type { Speaker } from "../../../src/ports/speaker.ts";
import { concatPcm, pcmFromBytes } from "../../../src/voice/audio/pcm.ts";
import { ai } from "../../support/worker/ai.ts";
import { codeOf, collect, received, script, worldUrl } from "./world.ts";

type Timeouts = { firstAudioTimeoutMs: number; idleTimeoutMs?: number };
type Create = (timeouts: Timeouts) => Speaker;

const patient: Timeouts = { firstAudioTimeoutMs: 10_000, idleTimeoutMs: 10_000 };
const elevenLabsUrl = `${worldUrl}/speech/elevenlabs`;
const openAiUrl = `${worldUrl}/speech/openai/v1`;

const adapters: [string, Create][] = [
  [
    "ElevenLabs",
    (timeouts) => elevenLabsSpeaker({ baseUrl: elevenLabsUrl, apiKey: "key", ...timeouts }),
  ],
  ["OpenAI", (timeouts) => openAiSpeaker({ baseUrl: openAiUrl, apiKey: "key", ...timeouts })],
  ["Workers AI", (timeouts) => workersAiSpeaker({ ai, ...timeouts })],
];

const say = (text: string, more: { sampleRate?: number; signal?: AbortSignal } = {}) => ({
  text,
  voice: "nova",
  model: "gpt-4o-mini-tts",
  language: "en-US",
  sampleRate: 16000,
  signal: new AbortController().signal,
  ...more,
});

const peakOf = (pcm: Int16Array) =>
  pcm.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);

describe.each(adapters)("%s as a speaker", (name, create) => {
  test("speech has the same length and level at every rate", async () => {
    const seconds: number[] = [];
    for (const sampleRate of [8000, 16000, 24000, 48000]) {
      const pieces = await collect(create(patient).speak(say("How are you?", { sampleRate })));
      expect(pieces.every((piece) => piece.length > 0)).toBe(true);
      const pcm = concatPcm(pieces);
      expect(peakOf(pcm) / 32767).toBeCloseTo(0.6, 1);
      seconds.push(pcm.length / sampleRate);
    }
    expect(Math.min(...seconds)).toBeGreaterThan(0.5);
    expect(Math.max(...seconds) - Math.min(...seconds)).toBeLessThan(0.001);
  });

  test("not a sample is lost or shifted where the vendor cuts in the middle of one", async () => {
    const text = `Every sample counts with ${name}.`;
    const heard = concatPcm(await collect(create(patient).speak(say(text, { sampleRate: 24000 }))));
    const response = await fetch(`${openAiUrl}/audio/speech`, {
      method: "POST",
      headers: { authorization: "Bearer key" },
      body: JSON.stringify({ model: "tts-1", input: text, voice: "nova", response_format: "pcm" }),
    });
    const sent = pcmFromBytes(await response.arrayBuffer());
    expect(heard.length).toBe(sent.length);
    expect(heard.every((sample, i) => sample === sent[i])).toBe(true);
  });

  test.each([
    [401, "refused"],
    [429, "unavailable"],
    [500, "unavailable"],
  ])("status %i is %s", async (status, code) => {
    const text = `${name} status ${status}`;
    await script("speech", { answers: [{ match: text, status }] });
    expect(await codeOf(collect(create(patient).speak(say(text))))).toBe(code);
  });

  test("a voice that does not begin or stops in the middle is a timeout", async () => {
    await script("speech", {
      answers: [
        { match: `${name} silent`, delayMs: 60_000 },
        { match: `${name} stalling`, chunkDelayMs: 1000 },
      ],
    });
    const silent = create({ firstAudioTimeoutMs: 50 }).speak(say(`${name} silent`));
    expect(await codeOf(collect(silent))).toBe("timeout");
    const stalling = create({ ...patient, idleTimeoutMs: 50 }).speak(say(`${name} stalling`));
    expect(await codeOf(collect(stalling))).toBe("timeout");
  });

  test("speech that breaks off is unavailable", async () => {
    const text = `${name} breaks off`;
    await script("speech", { answers: [{ match: text, breakAfterBytes: 10_000 }] });
    expect(await codeOf(collect(create(patient).speak(say(text))))).toBe("unavailable");
  });

  test("aborting ends the speech and closes the request upstream", async () => {
    const text = `${name} is interrupted`;
    await script("speech", { answers: [{ match: text, chunkDelayMs: 300 }] });
    const controller = new AbortController();
    const { signal } = controller;
    const speech = create(patient).speak(say(text, { signal }))[Symbol.asyncIterator]();
    expect((await speech.next()).done).toBe(false);
    controller.abort();
    expect(await codeOf(speech.next())).toBe("aborted");
    await vi.waitFor(async () =>
      expect(await received({ kind: "speech_left", text })).toHaveLength(1),
    );
  });

  test("after an abort nothing more is told, not even what has arrived", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const speech = create(patient).speak(say("How are you?", { signal }))[Symbol.asyncIterator]();
    expect((await speech.next()).done).toBe(false);
    controller.abort();
    expect(await codeOf(speech.next())).toBe("aborted");
    expect(await codeOf(collect(create(patient).speak(say("No.", { signal }))))).toBe("aborted");
  });
});
