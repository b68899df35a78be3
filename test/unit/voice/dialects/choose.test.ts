import { expect, test } from "vitest";
import { chooseDialect, dialectNames, openInterpreter } from "../../../../src/voice/dialects.ts";

test.each([
  [null, [], "native", null],
  [null, ["voice.v1"], "native", "voice.v1"],
  [null, ["convai"], "convai", "convai"],
  [
    null,
    ["realtime", "openai-insecure-api-key.ek_1", "openai-agents-sdk.1"],
    "realtime",
    "realtime",
  ],
  [null, ["unknown", "convai"], "convai", "convai"],
  [null, ["unknown", "other"], "native", "unknown"],
  ["realtime", [], "realtime", null],
  ["realtime", ["convai"], "realtime", "convai"],
  ["native", ["convai"], "native", "convai"],
  ["klingon", ["convai"], "convai", "convai"],
  ["klingon", [], "native", null],
] as const)(
  "query %s and subprotocols %j mean %s, with %s echoed",
  (asked, offered, name, subprotocol) => {
    expect(chooseDialect(asked, offered)).toEqual({ name, subprotocol });
  },
);

test.each(dialectNames)("%s goes on from its stored state as if it had never been away", (name) => {
  const whole = openInterpreter(name, null);
  let parts = openInterpreter(name, null);
  const messages = [
    {
      type: "ready",
      call_id: "call_1",
      audio: { encoding: "pcm16", sampleRate: 16_000 },
      agent: { id: "agt_1", name: "Ava" },
    },
    { type: "agent_text", turn_id: 1, delta: "Hello ", final: false },
    { type: "agent_text", turn_id: 1, delta: "there.", final: false },
    { type: "agent_text", turn_id: 1, text: "Hello there.", final: true },
    { type: "interruption", turn_id: 1, heard_text: "Hello", heard_ms: 300 },
    { type: "user_transcript", turn_id: 2, text: "Hi.", final: true },
    { type: "ended", reason: "api" },
  ] as const;
  for (const message of messages) {
    parts = openInterpreter(name, JSON.parse(JSON.stringify(parts.state())));
    expect(parts.write(message, 0)).toEqual(whole.write(message, 0));
  }
});

test.each(dialectNames)("%s answers any frame without throwing", (name) => {
  const frames = [
    "",
    "{",
    "null",
    "[]",
    "1",
    "{}",
    '{"type":null}',
    '{"type":"__proto__"}',
    '{"type":"constructor"}',
    '{"type":{"toString":1}}',
    '{"type":"conversation.item.truncate","item_id":{"toString":1},"audio_end_ms":{"valueOf":1}}',
    '{"type":"session.update","session":7}',
    '{"type":"session.update","session":{"audio":{"input":{"format":"mp3"}}}}',
    '{"type":"conversation.item.create"}',
    '{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[null]}}',
    '{"type":"conversation.item.truncate"}',
    '{"type":"input_audio_buffer.append","audio":"%"}',
    '{"type":"response.cancel"}',
    '{"user_audio_chunk":7}',
    '{"type":"user_message"}',
    '{"type":"conversation_initiation_client_data","conversation_config_override":[]}',
    new ArrayBuffer(3),
  ];
  const interpreter = openInterpreter(name, null);
  for (const frame of frames) {
    const { frames: answers, messages } = interpreter.read(frame, 0);
    for (const answer of answers) expect(() => JSON.parse(String(answer))).not.toThrow();
    expect(Array.isArray(messages)).toBe(true);
  }
});
