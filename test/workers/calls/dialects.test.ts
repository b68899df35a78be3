import { evictDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { carry } from "../../../dev/carried-text.ts";
import { encodeMulaw } from "../../../src/voice/audio/mulaw.ts";
import { concatPcm } from "../../../src/voice/audio/pcm.ts";
import { handshake, join, type Message, newAgent, newCall } from "../../support/worker/call.ts";
import { env, request } from "../../support/worker/client.ts";

const GREETING = "Hello, this is Ava from Acme. How can I help you today?";
const transcriptOf = async (key: string, callId: string) =>
  (await request("GET", `/v1/calls/${callId}/transcripts`, { key })).body.data;
const evict = (callId: string) => evictDurableObject(env.CALL_SESSION.getByName(callId));

const initiation = {
  type: "conversation_initiation_client_data",
  conversation_config_override: { conversation: { text_only: true } },
};
const agentSays = (message: Message) => Object(message["agent_response_event"]).agent_response;
const typed = (text: string) => ({
  type: "conversation.item.create",
  item: { type: "message", role: "user", content: [{ type: "input_text", text }] },
});
const whatWasDone = (message: Message) => Object(message["response"]).output?.[0]?.content?.[0];

test("a call may be asked for in a dialect, which its address then names", async () => {
  const { key, agentId } = await newAgent();
  for (const dialect of ["native", "convai", "realtime"]) {
    const { path } = await newCall(key, agentId, { dialect });
    expect(new URL(path, "http://x").searchParams.get("dialect")).toBe(dialect);
  }
  const json = { assistantId: agentId, type: "web", dialect: "klingon" };
  const refused = await request("POST", "/v1/calls/initiate", { key, json });
  expect(refused.body.error.code).toBe("validation_failed");
});

test.each([
  ["", "convai", "convai", "conversation_initiation_metadata"],
  ["", "realtime, openai-insecure-api-key.ek_1", "realtime", "session.created"],
  ["", "voice.v1", "voice.v1", "ready"],
  ["", "unknown", "unknown", "ready"],
  ["", undefined, null, "ready"],
  ["&dialect=realtime", undefined, null, "session.created"],
  ["&dialect=realtime", "convai", "convai", "session.created"],
  ["&dialect=klingon", "convai", "convai", "conversation_initiation_metadata"],
  // As clients do that add their own query to an address that has one.
  ["&dialect=convai?source=sdk", undefined, null, "conversation_initiation_metadata"],
])(
  "query %j and subprotocols %j: echoed %j, first message %s",
  async (query, offered, echoed, first) => {
    const { key, agentId } = await newAgent();
    const { path } = await newCall(key, agentId);
    const response = await handshake(path + query, offered);
    expect(response.headers.get("sec-websocket-protocol")).toBe(echoed);
    const client = await join(path + query, offered);
    await client.until(({ type }) => type === first);
    expect(client.messages[0]?.type).toBe(first);
  },
);

test("a conversation in convai, with the object evicted between two turns", async () => {
  const { key, agentId } = await newAgent();
  const { callId, path } = await newCall(key, agentId);
  const client = await join(path, "convai");
  client.send(initiation);
  await client.until((m) => agentSays(m) === GREETING);
  await evict(callId);
  client.send({ type: "user_message", text: "Are you still there?" });
  const answer = await client.until((m) => (agentSays(m) ?? GREETING) !== GREETING);
  expect(client.ofType("conversation_initiation_metadata")).toHaveLength(1);
  const parts = client
    .ofType("agent_chat_response_part")
    .map((m) => Object(m["text_response_part"]));
  expect(parts.map(({ text }) => text).join("")).toBe(agentSays(answer));
  expect(client.ofType("audio")).toEqual([]);
  expect(await transcriptOf(key, callId)).toEqual([
    { role: "assistant", content: GREETING },
    { role: "user", content: "Are you still there?" },
    { role: "assistant", content: agentSays(answer) },
  ]);
  client.socket.close(1000);
});

test("a voice client of convai gets audio, and after an interruption none that it must drop", async () => {
  const { key, agentId } = await newAgent();
  const { path } = await newCall(key, agentId, { dialect: "convai" });
  const client = await join(path);
  client.send({ type: "conversation_initiation_client_data" });
  await client.until(({ type }) => type === "audio");
  client.send({ type: "user_message", text: "Please explain it in detail." });
  const interruption = await client.until(({ type }) => type === "interruption");
  const at = client.messages.indexOf(interruption);
  const from = Object(interruption["interruption_event"]).event_id;
  await client.until((m) => m.type === "audio" && client.messages.indexOf(m) > at);
  const ids = (messages: Message[]) =>
    messages.filter(({ type }) => type === "audio").map((m) => Object(m["audio_event"]).event_id);
  expect(Math.max(...ids(client.messages.slice(0, at)))).toBeLessThan(from);
  expect(Math.min(...ids(client.messages.slice(at)))).toBeGreaterThanOrEqual(from);
  client.socket.close(1000);
});

test("a conversation in realtime, with the object evicted between two turns", async () => {
  const { key, agentId } = await newAgent();
  const { callId, path } = await newCall(key, agentId, { dialect: "realtime" });
  const client = await join(path);
  client.send({ type: "session.update", session: { output_modalities: ["text"] } });
  await client.until((m) => whatWasDone(m)?.text === GREETING);
  client.send(typed("Are you still there?"));
  await client.until(
    (m) => m.type === "conversation.item.done" && Object(m["item"]).role === "user",
  );
  await evict(callId);
  client.send({ type: "response.create" });
  const done = await client.until((m) => (whatWasDone(m)?.text ?? GREETING) !== GREETING);
  expect(client.ofType("session.created")).toHaveLength(1);
  const ids = client.messages.map((message) => message["event_id"]);
  expect(new Set(ids).size).toBe(ids.length);
  expect(await transcriptOf(key, callId)).toEqual([
    { role: "assistant", content: GREETING },
    { role: "user", content: "Are you still there?" },
    { role: "assistant", content: whatWasDone(done)?.text },
  ]);
  client.socket.close(1000);
});

/** How long the greeting sounds to a client with these settings. */
async function greetingMs(session: object | null, bytesPerMs: number) {
  const { key, agentId } = await newAgent();
  const { path } = await newCall(key, agentId, { dialect: "realtime" });
  const client = await join(path);
  if (session) client.send({ type: "session.update", session });
  await client.until(({ type }) => type === "response.done");
  client.socket.close(1000);
  const bytes = client
    .ofType("response.output_audio.delta")
    .map((m) => atob(String(m["delta"])).length);
  return bytes.reduce((sum, length) => sum + length, 0) / bytesPerMs;
}

test("a realtime client hears the greeting in the format it asks for, or without asking at 24 kHz", async () => {
  const mulaw = { audio: { output: { format: { type: "audio/pcmu" } } } };
  const asked = await greetingMs(mulaw, 8);
  const unasked = await greetingMs(null, 48);
  expect(asked).toBeGreaterThan(1_000);
  expect(Math.abs(asked - unasked)).toBeLessThan(5);
});

test("a realtime client may send telephone audio and hear better", async () => {
  const { key, agentId } = await newAgent();
  const { path } = await newCall(key, agentId, { dialect: "realtime" });
  const client = await join(path);
  const session = { audio: { input: { format: { type: "audio/pcmu" } } } };
  client.send({ type: "session.update", session });
  const { session: settings } = await client.until(({ type }) => type === "session.updated");
  expect(settings).toMatchObject({
    audio: {
      input: { format: { type: "audio/pcmu" } },
      output: { format: { type: "audio/pcm", rate: 24_000 } },
    },
  });
  const words = "Where is my parcel?";
  const speech = concatPcm([carry(words, 8_000), new Int16Array(16_000)]);
  const audio = btoa(String.fromCharCode(...encodeMulaw(speech)));
  client.send({ type: "input_audio_buffer.append", audio });
  const heard = await client.until(({ type }) => type.endsWith("transcription.completed"));
  expect(heard["transcript"]).toBe(words);
  client.socket.close(1000);
});

test("a realtime client that stops its loudspeaker cuts the reply, for both sides alike", async () => {
  const { key, agentId } = await newAgent();
  const { callId, path } = await newCall(key, agentId, { dialect: "realtime" });
  const client = await join(path);
  client.send({ type: "session.update", session: { audio: {} } });
  const delta = await client.until(({ type }) => type === "response.output_audio.delta");
  client.send({ type: "conversation.item.truncate", item_id: delta["item_id"], audio_end_ms: 50 });
  const cut = await client.until(({ type }) =>
    ["conversation.item.truncated", "conversation.item.deleted"].includes(type),
  );
  expect(cut["item_id"]).toBe(delta["item_id"]);
  expect(client.ofType("input_audio_buffer.speech_started")).toEqual([]);
  const [line] = await transcriptOf(key, callId);
  if (cut.type === "conversation.item.truncated") {
    client.send({ type: "conversation.item.retrieve", item_id: cut["item_id"] });
    const { item } = await client.until(({ type }) => type === "conversation.item.retrieved");
    expect(Object(item).content[0].transcript).toBe(line.content);
  } else expect(line).toBeUndefined();
  client.socket.close(1000);
});

test("a call goes on in the dialect it has begun in", async () => {
  const { key, agentId } = await newAgent();
  const { path } = await newCall(key, agentId);
  const first = await join(path, "convai");
  first.send(initiation);
  await first.until((m) => agentSays(m) === GREETING);
  const second = await join(path);
  await second.until(({ type }) => type === "conversation_initiation_metadata");
  expect((await first.untilClosed()).code).toBe(4409);
  second.send({ type: "user_message", text: "It is me again." });
  await second.until((m) => agentSays(m) !== undefined);
  second.socket.close(1000);
});

test("what a dialect does not know is told in its own words, and the call goes on", async () => {
  const { key, agentId } = await newAgent();
  const frames = ["{", '{"type":"dance"}', new Uint8Array([1, 2, 3])];
  const said = [
    ["convai", initiation, { type: "user_message", text: "Where is my parcel?" }],
    [
      "realtime",
      { type: "session.update", session: { output_modalities: ["text"] } },
      typed("Where is my parcel?"),
    ],
  ] as const;
  for (const [dialect, start, line] of said) {
    const { path } = await newCall(key, agentId, { dialect });
    const client = await join(path);
    client.send(start);
    for (const frame of frames) client.socket.send(frame);
    client.send(line);
    client.send({ type: "response.create" });
    await client.until((m) => JSON.stringify(m).includes("You said: Where is my parcel?"));
    expect(client.ofType("error").length).toBeGreaterThanOrEqual(frames.length);
    client.socket.close(1000);
  }
});
