import { once } from "node:events";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import * as z from "zod";
import { carry, spokenWithText } from "../../dev/carried-text.ts";
import { synthesize } from "../../dev/speech.ts";
import { transcriberStandIn } from "../../dev/transcriber.ts";
import { encodeMulaw } from "../../src/voice/audio/mulaw.ts";
import { bytesFromPcm, concatPcm } from "../../src/voice/audio/pcm.ts";
import { cut, sine } from "../unit/voice/audio/signals.ts";
import { onLoopback } from "./on-loopback.ts";

const message = z.looseObject({
  type: z.string(),
  is_final: z.boolean().optional(),
  speech_final: z.boolean().optional(),
  channel: z
    .object({ alternatives: z.tuple([z.looseObject({ transcript: z.string() })]) })
    .or(z.array(z.number()))
    .optional(),
});

const everything = "interim_results=true&vad_events=true&utterance_end_ms=1000";

/** Opens a stream, sends `sound` in frames of 20 ms, closes it as the protocol wants, reads all. */
async function transcribe(url: string, sound: Uint8Array[], query: string): Promise<string[]> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/listen?model=nova-3&${query}`, {
    headers: { authorization: "Token key" },
  });
  const heard: string[] = [];
  socket.on("message", (data) => heard.push(brief(JSON.parse(String(data)))));
  const closed = once(socket, "close");
  await once(socket, "open");
  for (const frame of sound) socket.send(frame);
  socket.send(JSON.stringify({ type: "CloseStream" }));
  expect((await closed)[0]).toBe(1000);
  return heard;
}

function brief(json: unknown): string {
  const { type, is_final, speech_final, channel } = message.parse(json);
  if (!channel || Array.isArray(channel)) return type;
  const kind = speech_final ? "end" : is_final ? "segment" : "interim";
  return `${kind}: ${channel.alternatives[0].transcript}`;
}

const frames = (pcm: Int16Array, rate: number) => cut(pcm, [rate / 50]).map(bytesFromPcm);

const conversation = (rate: number) =>
  concatPcm([
    new Int16Array(rate / 2),
    carry("Where is my order?", rate),
    new Int16Array(rate * 1.5),
    carry("Thanks", rate),
    new Int16Array(rate / 2),
  ]);

const heardConversation = [
  "SpeechStarted",
  "interim: Where",
  "interim: Where is",
  "interim: Where is my",
  "interim: Where is my order?",
  "end: Where is my order?",
  "UtteranceEnd",
  "SpeechStarted",
  "interim: Thanks",
  "end: Thanks",
  "Metadata",
];

test.each([8000, 16000, 24000, 48000])("two turns are transcribed at %i Hz", async (rate) => {
  await using transcriber = await onLoopback(transcriberStandIn);
  const query = `encoding=linear16&sample_rate=${rate}&${everything}`;
  const heard = await transcribe(transcriber.url, frames(conversation(rate), rate), query);
  expect(heard).toEqual(heardConversation);
});

test("μ-law is transcribed as well", async () => {
  await using transcriber = await onLoopback(transcriberStandIn);
  const sound = cut(conversation(8000), [160]).map((frame) => encodeMulaw(frame));
  const query = `encoding=mulaw&sample_rate=8000&${everything}`;
  expect(await transcribe(transcriber.url, sound, query)).toEqual(heardConversation);
});

test("speech that says the carried text belongs to it, with all its pauses", async () => {
  await using transcriber = await onLoopback(transcriberStandIn);
  const text = "Good morning. I would like to book a table. For two, please.";
  const speech = await synthesize(text, "alloy", 16000);
  const sound = frames(spokenWithText(text, 16000, speech), 16000);
  const heard = await transcribe(transcriber.url, sound, "encoding=linear16&sample_rate=16000");
  expect(heard).toEqual([`end: ${text}`, "Metadata"]);
});

test("a voice that carries nothing is a turn and says so; a click is none", async () => {
  await using transcriber = await onLoopback(transcriberStandIn);
  const silence = new Int16Array(8000);
  const sound = concatPcm([silence, sine(200, 8000, 0.1), silence, sine(200, 8000, 0.6), silence]);
  const query = "encoding=linear16&sample_rate=8000&vad_events=true";
  expect(await transcribe(transcriber.url, frames(sound, 8000), query)).toEqual([
    "SpeechStarted",
    "SpeechStarted",
    "end: [speech without carried text]",
    "Metadata",
  ]);
});

test("an utterance of two texts comes as a segment and its end; closing ends it at once", async () => {
  await using transcriber = await onLoopback(transcriberStandIn);
  const sound = concatPcm([carry("My name is", 8000), carry("Ada", 8000)]);
  const query = "encoding=linear16&sample_rate=8000";
  expect(await transcribe(transcriber.url, frames(sound, 8000), query)).toEqual([
    "segment: My name is",
    "end: Ada",
    "Metadata",
  ]);
  expect(
    transcriber
      .received()
      .slice(0, 4)
      .map(({ event }) => event),
  ).toEqual(["open", "final", "CloseStream", "final"]);
});

test.each([
  ["no key", {}, "encoding=linear16&sample_rate=8000", 401],
  ["an unknown encoding", { authorization: "Token k" }, "encoding=mp3&sample_rate=8000", 400],
  ["no sample rate", { authorization: "Token k" }, "encoding=linear16", 400],
])("%s is refused before the socket opens", async (_, headers, query, status) => {
  await using transcriber = await onLoopback(transcriberStandIn);
  const url = `${transcriber.url.replace("http", "ws")}/v1/listen?${query}`;
  const socket = new WebSocket(url, { headers });
  const [, response] = await once(socket, "unexpected-response");
  expect(response.statusCode).toBe(status);
  response.destroy();
});
