import { once } from "node:events";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import * as z from "zod";
import { carry } from "../../dev/carried-text.ts";
import { transcriberStandIn } from "../../dev/transcriber.ts";
import { encodeMulaw } from "../../src/voice/audio/mulaw.ts";
import { bytesFromPcm, concatPcm } from "../../src/voice/audio/pcm.ts";
import { cut } from "../unit/voice/audio/signals.ts";
import { onLoopback } from "./on-loopback.ts";

const message = z.looseObject({
  type: z.string(),
  sequence_id: z.number(),
  event: z.string().optional(),
  turn_index: z.number().optional(),
  transcript: z.string().optional(),
  trigger: z.string().optional(),
});

const rate = 8000;
const silence = (ms: number) => new Int16Array((rate * ms) / 1000);
const frames = (pcm: Int16Array) => cut(pcm, [rate / 50]);

/** Opens a stream, sends all, reads until the vendor has closed it. */
async function transcribe(url: string, sent: (Uint8Array | string)[], query = "") {
  const socket = new WebSocket(
    `${url.replace("http", "ws")}/v2/listen?model=flux-general-en&encoding=linear16&sample_rate=${rate}${query}`,
    { headers: { authorization: "Token key" } },
  );
  const heard: z.infer<typeof message>[] = [];
  socket.on("message", (data) => heard.push(message.parse(JSON.parse(String(data)))));
  const closed = once(socket, "close");
  await once(socket, "open");
  for (const each of sent) socket.send(each);
  const [code] = await closed;
  expect(heard.map(({ sequence_id }) => sequence_id)).toEqual(heard.map((_, i) => i));
  const told = heard.map(({ type, event, turn_index, transcript, trigger }) =>
    event
      ? [turn_index, event, transcript, trigger].filter((x) => x !== undefined).join(" ")
      : type,
  );
  return { code, told };
}

const closing = JSON.stringify({ type: "CloseStream" });
const sound = concatPcm([
  silence(100),
  carry("I would like", rate),
  silence(180),
  carry("tea", rate),
  silence(500),
  carry("Thanks", rate),
]);

test("turns begin with a word, pause, go on and end, each with the whole of it", async () => {
  await using transcriber = await onLoopback(transcriberStandIn);
  const sent = [...frames(sound).map(bytesFromPcm), closing];
  const { code, told } = await transcribe(transcriber.url, sent, "&eager_eot_threshold=0.5");
  expect(told).toEqual([
    "Connected",
    "0 StartOfTurn I",
    "0 Update I would",
    "0 Update I would like",
    "0 EagerEndOfTurn I would like",
    "0 TurnResumed I would like",
    "0 Update I would like tea",
    "0 EagerEndOfTurn I would like tea",
    "0 EndOfTurn I would like tea model",
    "1 StartOfTurn Thanks",
    "1 EndOfTurn Thanks manual",
  ]);
  expect(code).toBe(1000);
});

test("nothing is said early to those who did not ask for it", async () => {
  await using transcriber = await onLoopback(transcriberStandIn);
  const sent = [...frames(sound).map((frame) => encodeMulaw(frame)), closing];
  const { told } = await transcribe(transcriber.url, sent, "&encoding=mulaw");
  expect(told.filter((each) => /Eager|Resumed/.test(each))).toEqual([]);
  expect(told.filter((each) => each.includes("EndOfTurn"))).toHaveLength(2);
});

test("a turn can be ended by force", async () => {
  await using transcriber = await onLoopback(transcriberStandIn);
  const sent = [
    bytesFromPcm(carry("Tea", rate)),
    JSON.stringify({ type: "ForceEndTurn" }),
    closing,
  ];
  const { told } = await transcribe(transcriber.url, sent);
  expect(told).toEqual(["Connected", "0 StartOfTurn Tea", "0 EndOfTurn Tea manual"]);
});

test("a message of the older protocol ends the stream with an error", async () => {
  await using transcriber = await onLoopback(transcriberStandIn);
  const { code, told } = await transcribe(transcriber.url, [JSON.stringify({ type: "KeepAlive" })]);
  expect({ code, told }).toEqual({ code: 1011, told: ["Connected", "Error"] });
});

test("an unknown encoding is refused before the socket opens", async () => {
  await using transcriber = await onLoopback(transcriberStandIn);
  const url = `${transcriber.url.replace("http", "ws")}/v2/listen?model=m&encoding=mp3`;
  const socket = new WebSocket(url, { headers: { authorization: "Token key" } });
  const [, response] = await once(socket, "unexpected-response");
  expect(response.statusCode).toBe(400);
  response.destroy();
});
