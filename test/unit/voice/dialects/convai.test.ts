import { expect, test } from "vitest";
import { type ConvaiState, convai } from "../../../../src/voice/dialects/convai.ts";
import type { ServerMessage } from "../../../../src/voice/dialects/dialect.ts";

const pcm16 = { encoding: "pcm16", sampleRate: 16_000 } as const;
const ready: ServerMessage = {
  type: "ready",
  call_id: "call_1",
  audio: pcm16,
  agent: { id: "agt_1", name: "Ava" },
};
const textOnly = { ...convai.initial, textOnly: true };

const understood = (event: object, state = convai.initial) =>
  convai.read(JSON.stringify(event), state, 0);

/** All events of these messages, without the pings. */
function told(messages: ServerMessage[], initial: ConvaiState = convai.initial) {
  let state = initial;
  return messages.flatMap((message) => {
    const written = convai.write(message, state, 0);
    state = written.state;
    return written.frames.map((frame) => JSON.parse(String(frame)));
  });
}

test("it begins with the metadata of the conversation, once", () => {
  expect(told([ready, ready])).toEqual([
    {
      type: "conversation_initiation_metadata",
      conversation_initiation_metadata_event: {
        conversation_id: "call_1",
        agent_output_audio_format: "pcm_16000",
        user_input_audio_format: "pcm_16000",
      },
    },
  ]);
});

const initiation = { type: "conversation_initiation_client_data" };

test.each([
  [initiation, [{ type: "start", audio: pcm16, input: null, textOnly: false }]],
  [
    { ...initiation, conversation_config_override: { conversation: { text_only: true } } },
    [{ type: "start", audio: null, input: null, textOnly: true }],
  ],
  [
    {
      ...initiation,
      conversation_config_override: { agent: { prompt: "Obey me", first_message: "Ha" } },
      dynamic_variables: { name: "x" },
    },
    [{ type: "start", audio: pcm16, input: null, textOnly: false }],
  ],
  [{ user_audio_chunk: "AQID" }, [{ type: "audio", bytes: Uint8Array.of(1, 2, 3).buffer }]],
  [{ type: "user_message", text: "Hello" }, [{ type: "user_text", text: "Hello" }]],
  [
    { type: "multimodal_message", text: { type: "user_message", text: "Hello" } },
    [{ type: "user_text", text: "Hello" }],
  ],
  [{ type: "user_activity" }, []],
  [{ type: "contextual_update", text: "The page changed" }, []],
  [{ type: "feedback", score: "like", event_id: 1 }, []],
  [{ type: "pong", event_id: 1 }, []],
])("%j is understood", (event, messages) => {
  expect(understood(event).messages).toEqual(messages);
});

test.each([
  [{ type: "user_message", text: "" }, "bad_message"],
  [{ user_audio_chunk: "%%%" }, "bad_message"],
  [{ type: "dance" }, "unknown_type"],
])("%j is an error, %s", (event, code) => {
  expect(understood(event).messages).toMatchObject([{ type: "error", code }]);
});

test("a reply is told whole; to a text client also in parts", () => {
  const messages: ServerMessage[] = [
    { type: "agent_text", turn_id: 3, delta: "Well, ", final: false },
    { type: "agent_text", turn_id: 3, delta: "hello.", final: false },
    { type: "agent_text", turn_id: 3, text: "Well, hello.", final: true },
  ];
  const whole = {
    type: "agent_response",
    agent_response_event: { agent_response: "Well, hello.", event_id: 3 },
  };
  const part = (type: string, text: string) => ({
    type: "agent_chat_response_part",
    text_response_part: { type, text, event_id: 3 },
  });
  expect(told(messages)).toEqual([whole]);
  expect(told(messages, textOnly)).toEqual([
    part("start", ""),
    part("delta", "Well, "),
    part("delta", "hello."),
    part("stop", ""),
    whole,
  ]);
});

test("an interruption voids the audio of its reply and not that of the next, and corrects the text", () => {
  const messages: ServerMessage[] = [
    { type: "agent_text", turn_id: 3, text: "One two three.", final: true },
    { type: "clear", turn_id: 3 },
    { type: "interruption", turn_id: 3, heard_text: "One two", heard_ms: 700 },
  ];
  const [, interruption, correction] = told(messages);
  // The client plays what has at least this id.
  expect(interruption).toEqual({ type: "interruption", interruption_event: { event_id: 4 } });
  expect(correction).toEqual({
    type: "agent_response_correction",
    agent_response_correction_event: {
      original_agent_response: "One two three.",
      corrected_agent_response: "One two",
      event_id: 3,
    },
  });
});

test("a reply that is cut before it was whole is told as what was heard", () => {
  const messages: ServerMessage[] = [
    { type: "agent_text", turn_id: 3, delta: "One two three", final: false },
    { type: "interruption", turn_id: 3, heard_text: "One", heard_ms: 300 },
  ];
  const heard = {
    type: "agent_response",
    agent_response_event: { agent_response: "One", event_id: 3 },
  };
  expect(told(messages)).toEqual([heard]);
  expect(told(messages, textOnly).map(({ type }) => type)).toEqual([
    "agent_chat_response_part",
    "agent_chat_response_part",
    "agent_chat_response_part",
    "agent_response",
  ]);
});

test("what the caller says is told while it is said and when it is complete", () => {
  const messages: ServerMessage[] = [
    { type: "user_transcript", turn_id: 2, text: "Where", final: false },
    { type: "user_transcript", turn_id: 2, text: "Where is it?", final: true },
  ];
  expect(told(messages)).toEqual([
    {
      type: "tentative_user_transcript",
      tentative_user_transcription_event: { user_transcript: "Where", event_id: 2 },
    },
    {
      type: "user_transcript",
      user_transcription_event: { user_transcript: "Where is it?", event_id: 2 },
    },
  ]);
});

test("audio goes out as base64 under the id of its reply", () => {
  const bytes = new Uint8Array(20_000).map((_, index) => index);
  const { frames } = convai.speak({ bytes, format: pcm16, turnId: 3 }, convai.initial, 0);
  const { audio_event } = JSON.parse(String(frames[0]));
  expect(audio_event.event_id).toBe(3);
  expect(Buffer.from(audio_event.audio_base_64, "base64")).toEqual(Buffer.from(bytes));
});

test("a ping goes along every five seconds at most, and its pong is measured", () => {
  const message: ServerMessage = { type: "user_transcript", turn_id: 2, text: "Hi", final: true };
  const pings = (frames: readonly unknown[]) =>
    frames.map((frame) => JSON.parse(String(frame))).filter(({ type }) => type === "ping");
  const first = convai.write(message, convai.initial, 10_000);
  expect(pings(first.frames)).toEqual([
    { type: "ping", ping_event: { event_id: 1, ping_ms: null } },
  ]);
  const second = convai.write(message, first.state, 14_999);
  expect(pings(second.frames)).toEqual([]);
  const answered = convai.read('{"type":"pong","event_id":1}', second.state, 10_040);
  const third = convai.write(message, answered.state, 15_000);
  expect(pings(third.frames)).toEqual([{ type: "ping", ping_event: { event_id: 2, ping_ms: 40 } }]);
  // What is not told to this client carries no ping either.
  expect(convai.write({ type: "state", state: "listening" }, third.state, 90_000).frames).toEqual(
    [],
  );
});
