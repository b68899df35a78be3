import { describe, expect, test } from "vitest";
import { speechStandIn, synthesize } from "../../dev/speech.ts";
import { decodeMulaw } from "../../src/voice/audio/mulaw.ts";
import { pcmFromBytes } from "../../src/voice/audio/pcm.ts";
import { parseWav } from "../../src/voice/audio/wav.ts";
import { onLoopback } from "./on-loopback.ts";

const greeting = "Hello, how can I help you today?";
const rachel = "21m00Tcm4TlvDq8ikWAM";

const peakOf = (pcm: Int16Array) =>
  pcm.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);

function askElevenLabs(
  url: string,
  format: string,
  body: unknown,
  headers: HeadersInit = { "xi-api-key": "key" },
) {
  return fetch(`${url}/elevenlabs/v1/text-to-speech/${rachel}/stream?output_format=${format}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
}

test.each([8000, 16000, 24000, 48000])(
  "a greeting lasts and sounds as it should at %i Hz",
  async (rate) => {
    const pcm = await synthesize(greeting, rachel, rate);
    const seconds = pcm.length / rate;
    expect(seconds).toBeGreaterThan(1.2);
    expect(seconds).toBeLessThan(3);
    expect(peakOf(pcm)).toBeGreaterThan(0.5 * 32767);
    expect(peakOf(pcm)).toBeLessThan(0.8 * 32767);
  },
);

test("the same request always gives the same sound, another voice another one", async () => {
  const first = await synthesize("seven", "onyx", 8000);
  expect(await synthesize("eight", "onyx", 8000)).not.toEqual(first);
  expect(await synthesize("seven", "onyx", 8000)).toEqual(first);
  expect((await synthesize("seven", "nova", 8000)).length).not.toBe(first.length);
});

test("a text is read in its language, in an unknown one as English", async () => {
  const read = async (text: string, language: string) =>
    (await synthesize(text, "onyx", 8000, language)).length;
  // Ninety-nine, and quatre-vingt-dix-neuf.
  expect(await read("99", "fr-FR")).toBeGreaterThan((await read("99", "en-US")) * 1.2);
  expect(await read("seven", "xx-unknown")).toBeGreaterThan(0);
});

describe("ElevenLabs", () => {
  test("streams raw samples in pieces that do not end on whole samples", async () => {
    await using speech = await onLoopback(speechStandIn);
    const response = await askElevenLabs(speech.url, "pcm_16000", {
      text: greeting,
      language_code: "en",
    });
    const pcm = pcmFromBytes(await response.arrayBuffer());
    expect(pcm).toEqual(await synthesize(greeting, rachel, 16000, "en"));
    expect(speech.received()).toMatchObject([{ kind: "speech", text: greeting, voice: rachel }]);
  });

  test("speaks μ-law for the telephone", async () => {
    await using speech = await onLoopback(speechStandIn);
    const response = await askElevenLabs(speech.url, "ulaw_8000", { text: greeting });
    const pcm = decodeMulaw(await response.bytes());
    const wanted = await synthesize(greeting, rachel, 8000);
    expect(pcm.length).toBe(wanted.length);
    expect(peakOf(pcm) / peakOf(wanted)).toBeCloseTo(1, 1);
  });

  test("refuses what the vendor refuses", async () => {
    await using speech = await onLoopback(speechStandIn);
    const text = "hi";
    expect((await askElevenLabs(speech.url, "pcm_16000", { text }, {})).status).toBe(401);
    expect((await askElevenLabs(speech.url, "pcm_12345", { text })).status).toBe(400);
    expect((await askElevenLabs(speech.url, "pcm_16000", {})).status).toBe(422);
    speech.standIn.script.add([{ status: 429 }]);
    expect((await askElevenLabs(speech.url, "pcm_16000", { text })).status).toBe(429);
  });

  test("lists its voices", async () => {
    await using speech = await onLoopback(speechStandIn);
    const response = await fetch(`${speech.url}/elevenlabs/v1/voices`, {
      headers: { "xi-api-key": "k" },
    });
    expect(await response.json()).toMatchObject({
      voices: expect.arrayContaining([
        expect.objectContaining({ voice_id: rachel, name: "Rachel" }),
      ]),
    });
  });
});

describe("OpenAI", () => {
  const ask = (
    url: string,
    response_format: string,
    headers: HeadersInit = { authorization: "Bearer k" },
  ) =>
    fetch(`${url}/openai/v1/audio/speech`, {
      method: "POST",
      headers,
      body: JSON.stringify({ model: "tts-1", input: greeting, voice: "alloy", response_format }),
    });

  test("pcm is 24 kHz without a header, wav is the same sound with one", async () => {
    await using speech = await onLoopback(speechStandIn);
    const pcm = await (await ask(speech.url, "pcm")).bytes();
    expect(pcmFromBytes(pcm)).toEqual(await synthesize(greeting, "alloy", 24000));
    const wav = parseWav(await (await ask(speech.url, "wav")).bytes());
    expect(wav).toMatchObject({ ok: true, wav: { sampleRate: 24000, channels: 1, data: pcm } });
  });

  test("without a key there is no speech", async () => {
    await using speech = await onLoopback(speechStandIn);
    expect((await ask(speech.url, "pcm", {})).status).toBe(401);
  });
});
