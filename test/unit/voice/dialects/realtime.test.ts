import { expect, test } from "vitest";
import type { ServerMessage } from "../../../../src/voice/dialects/dialect.ts";
import { openInterpreter } from "../../../../src/voice/dialects.ts";

const pcm24 = { encoding: "pcm16", sampleRate: 24_000 } as const;
const mulaw = { encoding: "mulaw", sampleRate: 8_000 } as const;
const ready: ServerMessage = {
  type: "ready",
  call_id: "call_1",
  audio: pcm24,
  agent: { id: "agt_1", name: "Ava" },
};
const thinking: ServerMessage = { type: "state", state: "thinking" };
const listening: ServerMessage = { type: "state", state: "listening" };

type Event = { type: string } & Record<string, unknown>;

/** A client's view of the dialect: what it gets for what it and the agent say. */
function connect() {
  const interpreter = openInterpreter("realtime", null);
  const events = (frames: readonly unknown[]) =>
    frames.map((frame) => JSON.parse(String(frame)) as Event);
  return {
    say(event: object) {
      const { frames, messages } = interpreter.read(JSON.stringify(event), 0);
      return { events: events(frames), messages };
    },
    hear: (...messages: ServerMessage[]) =>
      messages.flatMap((message) => events(interpreter.write(message, 0))),
    speak: (turnId: number, bytes = Uint8Array.of(1, 2)) =>
      events(interpreter.speak({ turnId, bytes, format: pcm24 }, 0)),
  };
}

const types = (events: Event[]) => events.map(({ type }) => type);
const typed = (text: string) => ({
  type: "conversation.item.create",
  item: { type: "message", role: "user", content: [{ type: "input_text", text }] },
});
const delta = (turn_id: number, text: string): ServerMessage => ({
  type: "agent_text",
  turn_id,
  delta: text,
  final: false,
});
const whole = (turn_id: number, text: string): ServerMessage => ({
  type: "agent_text",
  turn_id,
  text,
  final: true,
});
const errorOf = ({ events }: { events: Event[] }) => events[0]?.["error"];

test("a session is created once for a connection", () => {
  const client = connect();
  expect(types(client.hear(ready, ready))).toEqual(["session.created"]);
});

test.each([
  [{ audio: {} }, pcm24, pcm24, false],
  [{ output_modalities: ["audio"] }, pcm24, pcm24, false],
  [{ output_modalities: ["text"] }, null, pcm24, true],
  [
    {
      audio: {
        input: { format: { type: "audio/pcmu" } },
        output: { format: { type: "audio/pcmu" } },
      },
    },
    mulaw,
    mulaw,
    false,
  ],
  [{ audio: { input: { format: "g711_ulaw" } } }, pcm24, mulaw, false],
  [
    { audio: { output: { format: { type: "audio/pcm", rate: 16_000 } } } },
    { encoding: "pcm16", sampleRate: 16_000 },
    pcm24,
    false,
  ],
])("session.update %j starts the call", (session, audio, input, textOnly) => {
  const { events, messages } = connect().say({ type: "session.update", session });
  expect(types(events)).toEqual(["session.updated"]);
  expect(messages).toEqual([{ type: "start", audio, input, textOnly }]);
});

test("an update for tracing alone does not start the call", () => {
  const { events, messages } = connect().say({
    type: "session.update",
    session: { type: "realtime", tracing: "auto" },
  });
  expect(types(events)).toEqual(["session.updated"]);
  expect(messages).toEqual([]);
});

test("formats stand once the call has begun, and the client is told which", () => {
  const client = connect();
  client.say({ type: "session.update", session: { audio: {} } });
  const { events, messages } = client.say({
    type: "session.update",
    session: { audio: { output: { format: { type: "audio/pcmu" } } } },
  });
  expect(messages).toEqual([]);
  expect(events[0]).toMatchObject({
    session: { audio: { output: { format: { type: "audio/pcm", rate: 24_000 } } } },
  });
});

test("a spoken reply has its events in the order of the protocol", () => {
  const client = connect();
  client.hear(ready);
  const events = [
    ...client.hear(thinking, delta(3, "Well, "), delta(3, "hello.")),
    ...client.speak(3),
    ...client.hear({ type: "agent_audio_start", turn_id: 3 }, whole(3, "Well, hello.")),
    ...client.hear({ type: "agent_audio_end", turn_id: 3 }, listening),
  ];
  expect(types(events)).toEqual([
    "response.created",
    "response.output_item.added",
    "conversation.item.added",
    "response.content_part.added",
    "response.output_audio_transcript.delta",
    "response.output_audio_transcript.delta",
    "response.output_audio.delta",
    "response.output_audio_transcript.done",
    "response.output_audio.done",
    "response.content_part.done",
    "response.output_item.done",
    "conversation.item.done",
    "response.done",
  ]);
  const ids = new Set(events.map((event) => event["event_id"]));
  expect(ids.size).toBe(events.length);
  expect(events.at(-1)).toMatchObject({
    response: {
      status: "completed",
      output: [{ content: [{ type: "output_audio", transcript: "Well, hello." }] }],
    },
  });
});

test("a written reply is complete with its text", () => {
  const client = connect();
  client.say({ type: "session.update", session: { output_modalities: ["text"] } });
  const events = client.hear(delta(1, "Hello."), whole(1, "Hello."), listening);
  expect(types(events)).toEqual([
    "response.created",
    "response.output_item.added",
    "conversation.item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "conversation.item.done",
    "response.done",
  ]);
});

test("what is typed is said when a response is asked for", () => {
  const client = connect();
  expect(types(client.say(typed("Hello")).events)).toEqual([
    "conversation.item.added",
    "conversation.item.done",
  ]);
  client.say(typed("Where is it?"));
  const { events, messages } = client.say({ type: "response.create" });
  expect(events).toEqual([]);
  expect(messages).toEqual([{ type: "user_text", text: "Hello\nWhere is it?" }]);
  // The line is in the conversation already.
  const text = "Hello\nWhere is it?";
  expect(client.hear({ type: "user_transcript", turn_id: 2, text, final: true })).toEqual([]);
});

test("a response that cannot be made is refused under the id of the request", () => {
  const client = connect();
  const request = { type: "response.create", event_id: "mine" };
  expect(errorOf(client.say(request))).toMatchObject({
    code: "nothing_to_answer",
    event_id: "mine",
  });
  client.hear(thinking);
  expect(errorOf(client.say(request))).toMatchObject({
    code: "conversation_already_has_active_response",
    event_id: "mine",
  });
  client.hear(listening);
  client.say({ type: "input_audio_buffer.commit" });
  expect(client.say(request)).toEqual({ events: [], messages: [] });
});

test.each([
  { type: "message", role: "system", content: [{ type: "input_text", text: "Obey" }] },
  { type: "message", role: "assistant", content: [{ type: "output_text", text: "Yes" }] },
  { type: "message", role: "user", content: [{ type: "input_image", image_url: "x" }] },
  { type: "function_call_output", call_id: "1", output: "2" },
])("an item %j is refused", (item) => {
  expect(errorOf(connect().say({ type: "conversation.item.create", item }))).toMatchObject({
    code: "unsupported_item",
  });
});

test("speech of the caller becomes an item with its transcript", () => {
  const client = connect();
  client.say({ type: "input_audio_buffer.append", audio: btoa("\0".repeat(4_800)) });
  const events = client.hear(
    { type: "user_transcript", turn_id: 2, text: "Where", final: false },
    { type: "user_transcript", turn_id: 2, text: "Where is it", final: false },
    { type: "user_transcript", turn_id: 2, text: "Where is it?", final: true },
  );
  expect(types(events)).toEqual([
    "input_audio_buffer.speech_started",
    "input_audio_buffer.speech_stopped",
    "input_audio_buffer.committed",
    "conversation.item.added",
    "conversation.item.input_audio_transcription.completed",
    "conversation.item.done",
  ]);
  expect(events[0]).toMatchObject({ audio_start_ms: 100 });
  expect(new Set(events.map((e) => e["item_id"] ?? Object(e["item"]).id)).size).toBe(1);
});

/** A client to which the agent is speaking, and the id of what it says. */
function listeningClient() {
  const client = connect();
  client.hear(ready, thinking);
  const events = client.hear(delta(3, "One two three four."));
  client.speak(3);
  return { client, itemId: String(Object(events[0]?.["item"]).id) };
}

const cut = (heard_text: string): ServerMessage[] => [
  { type: "clear", turn_id: 3 },
  { type: "agent_audio_end", turn_id: 3 },
  { type: "interruption", turn_id: 3, heard_text, heard_ms: 700 },
];

test("a caller who speaks into a reply cancels it, stops the loudspeaker and cuts the item", () => {
  const { client, itemId } = listeningClient();
  const events = client.hear(...cut("One two"));
  expect(types(events)).toEqual([
    "response.output_audio_transcript.done",
    "response.output_audio.done",
    "response.content_part.done",
    "response.output_item.done",
    "conversation.item.done",
    "response.done",
    "input_audio_buffer.speech_started",
    "conversation.item.truncated",
  ]);
  expect(events.at(-3)).toMatchObject({ response: { status: "cancelled" } });
  expect(events.at(-1)).toMatchObject({ item_id: itemId, audio_end_ms: 700 });
  const retrieved = client.say({ type: "conversation.item.retrieve", item_id: itemId });
  expect(retrieved.events[0]).toMatchObject({
    type: "conversation.item.retrieved",
    item: { status: "incomplete", content: [{ transcript: "One two" }] },
  });
  const truncate = { type: "conversation.item.truncate", item_id: itemId, audio_end_ms: 690 };
  expect(client.say(truncate).messages).toEqual([]);
});

test("a reply of which nothing was heard leaves the conversation", () => {
  const { client, itemId } = listeningClient();
  expect(client.hear(...cut("")).at(-1)).toMatchObject({
    type: "conversation.item.deleted",
    item_id: itemId,
  });
  // The client may not know it yet.
  const truncate = { type: "conversation.item.truncate", item_id: itemId, audio_end_ms: 10 };
  expect(client.say(truncate)).toEqual({ events: [], messages: [] });
});

test("a client that stops the reply itself is not told that somebody spoke", () => {
  for (const type of ["response.cancel", "conversation.item.truncate"]) {
    const { client, itemId } = listeningClient();
    const { messages } = client.say({ type, ...(type.endsWith("e") && { item_id: itemId }) });
    expect(messages).toEqual([{ type: "interrupt" }]);
    expect(types(client.hear(...cut("One")))).not.toContain("input_audio_buffer.speech_started");
  }
});

test("there is nothing to cancel when no response, or another one, is under way", () => {
  const client = connect();
  const code = "response_cancel_not_active";
  expect(errorOf(client.say({ type: "response.cancel" }))).toMatchObject({ code });
  client.hear(thinking);
  const other = { type: "response.cancel", response_id: "resp_other" };
  expect(errorOf(client.say(other))).toMatchObject({ code });
});

test("every response that was created is done, also one without a sound or without a word", () => {
  for (const messages of [
    [thinking, listening],
    [thinking, delta(3, "…"), whole(3, "…"), listening],
  ]) {
    const events = types(connect().hear(...messages));
    expect(events.filter((type) => type === "response.created")).toHaveLength(1);
    expect(events.at(-1)).toBe("response.done");
  }
});

test("another connection of the same call keeps formats and gives no id twice", () => {
  const interpreter = openInterpreter("realtime", null);
  const read = (event: object) => interpreter.read(JSON.stringify(event), 0);
  const eventIds = (frames: readonly unknown[]) =>
    frames.map((frame) => JSON.parse(String(frame)).event_id);
  const first = eventIds(interpreter.write(ready, 0));
  read({ type: "session.update", session: { output_modalities: ["text"] } });
  interpreter.renew();
  const second = interpreter.write(ready, 0);
  expect(JSON.parse(String(second[0]))).toMatchObject({ session: { output_modalities: ["text"] } });
  expect(first).not.toContain(eventIds(second)[0]);
  expect(read({ type: "session.update", session: { audio: {} } }).messages).toEqual([]);
});
