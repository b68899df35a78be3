import { expect, test } from "vitest";
import { names, pick, sent, startCall } from "./drive.ts";

/** A reply of two sentences, the first being played, the second at the synthesis. */
function speakingCall() {
  const call = startCall({ greeting: null });
  call.at(0).joined();
  call.at(1000).says("What do you have?");
  call.delta(2, "We have apples and pears. They are ripe and");
  call.at(2000).audio(2, 0, 2500);
  call.on({ type: "speech_done", turnId: 2, chunk: 0 });
  return call;
}

test.each([
  [
    "a word",
    (call: ReturnType<typeof startCall>) => call.on({ type: "caller_partial", text: "no" }),
  ],
  ["the client", (call: ReturnType<typeof startCall>) => call.on({ type: "interrupt" })],
])("interrupted by %s the reply is cut at the last word heard", (_, interruptedBy) => {
  const call = speakingCall();
  const effects = interruptedBy(call.at(3300));
  expect(names(effects).slice(0, 5)).toEqual([
    "send_clear",
    "cancel_model",
    "send:agent_audio_end",
    "send:interruption",
    "record",
  ]);
  expect(sent(effects)).toContainEqual({
    type: "interruption",
    turn_id: 2,
    heard_text: "We have apples",
    heard_ms: 1300,
  });
  expect(call.lines).toEqual(["user: What do you have?", "assistant: We have apples |"]);
  expect(sent(effects)).toContainEqual({ type: "state", state: "listening" });
});

test("the model's next history holds what was heard and nothing else", () => {
  const call = speakingCall();
  call.at(3300).speechStarts();
  const effects = call.at(4000).says("Pears, please");
  expect(pick(effects, "start_model")[0]?.messages).toEqual([
    { role: "user", content: "What do you have?" },
    { role: "assistant", content: "We have apples" },
    { role: "user", content: "Pears, please" },
  ]);
});

test("an interruption before any word was heard leaves no line", () => {
  const call = speakingCall();
  const effects = call.at(2050).on({ type: "interrupt" });
  expect(sent(effects)).toContainEqual({
    type: "interruption",
    turn_id: 2,
    heard_text: "",
    heard_ms: 50,
  });
  expect(call.lines).toEqual(["user: What do you have?"]);
});

test("running synthesis is stopped too", () => {
  const call = speakingCall();
  call.delta(2, " sweet as honey. And");
  expect(names(call.at(3000).speechStarts())).toContain("cancel_speech");
});

test("what arrives late for an interrupted reply changes nothing", () => {
  const call = speakingCall();
  call.at(3300).on({ type: "interrupt" });
  const late = [
    call.model(2, "more"),
    call.spoken(2, 1, 500),
    call.speechFails(2, 1),
    call.modelFails(2),
    call.on({ type: "mark", name: "turn-2-0" }),
  ];
  expect(late.flat()).toEqual([]);
  expect(call.state.echoes).toBe(false);
});

test("speech after the last word was played interrupts nothing", () => {
  const call = startCall();
  call.at(0).joined();
  call.spoken(1, 0, 500);
  expect(names(call.at(501).speechStarts())).toEqual(["record"]);
  expect(call.lines).toEqual(["assistant: Hello there."]);
});

test("sounds while the agent thinks change nothing, words make a new reply to both", () => {
  const call = startCall({ greeting: null });
  call.joined();
  call.says("I would like");
  expect(call.speechStarts()).toEqual([]);
  const effects = call.says("a pizza");
  expect(names(effects)).toEqual(["cancel_model", "send:user_transcript", "record", "start_model"]);
  expect(pick(effects, "start_model")[0]).toEqual({
    type: "start_model",
    turnId: 4,
    messages: [
      { role: "user", content: "I would like" },
      { role: "user", content: "a pizza" },
    ],
  });
});

test("text of a dropped reply that the client has seen is taken back", () => {
  const call = startCall({ greeting: null });
  call.joined();
  call.says("I would like");
  call.delta(2, "What would");
  expect(sent(call.says("a pizza"))[0]).toEqual({
    type: "interruption",
    turn_id: 2,
    heard_text: "",
    heard_ms: 0,
  });
});

test("a client that asks a thinking agent to stop is obeyed", () => {
  const call = startCall({ greeting: null });
  call.joined();
  call.says("Tell me everything");
  expect(names(call.on({ type: "interrupt" }))).toEqual(["cancel_model"]);
  expect(call.state.reply).toBeNull();
});

test("with nothing to interrupt an interruption does nothing", () => {
  const call = startCall({ greeting: null });
  call.joined();
  expect([...call.speechStarts(), ...call.on({ type: "interrupt" })]).toEqual([]);
});

test("in a text session what was sent of an interrupted reply stays", () => {
  const call = startCall({ greeting: null, textOnlyUntilAudio: true });
  call.joined();
  call.types("Tell me a story");
  call.delta(2, "Once upon a");
  call.types("Stop");
  expect(call.lines).toEqual(["user: Tell me a story", "assistant: Once upon a |", "user: Stop"]);
});

test("a typed line interrupts a spoken reply", () => {
  const call = speakingCall();
  expect(names(call.at(3300).types("Wait"))).toEqual([
    "send_clear",
    "cancel_model",
    "send:agent_audio_end",
    "send:interruption",
    "record",
    "send:user_transcript",
    "record",
    "start_model",
  ]);
});

test("an echoed mark overrules the clock", () => {
  const call = startCall({ greeting: null });
  call.at(0).joined();
  call.says("Hi");
  call.model(2, "Good morning to you. It is a pleasure to meet you today.");
  call.spoken(2, 0, 1000);
  call.spoken(2, 1, 2000);
  call.at(2500).on({ type: "mark", name: "turn-2-0" });
  call.at(2520).on({ type: "interrupt" });
  expect(call.lines).toEqual(["user: Hi", "assistant: Good morning to you. |"]);
});

test("a client that echoes marks is waited for, and its last mark ends the reply", () => {
  const call = startCall({ greeting: null });
  call.at(0).joined();
  call.says("Hi");
  call.model(2, "Good morning to you. It is a pleasure to meet you today.");
  call.spoken(2, 0, 1000);
  call.spoken(2, 1, 2000);
  call.at(1200).on({ type: "mark", name: "turn-2-0" });
  call.at(3200).tick();
  expect(call.state.reply).not.toBeNull();
  call.at(3300).on({ type: "mark", name: "turn-2-1" });
  expect(call.state.reply).toBeNull();
});

test.each(["", "turn-2-9", "turn-1-0", "turn-2-0.", "hello"])(
  "the unknown mark %j proves nothing",
  (name) => {
    const call = speakingCall();
    const before = call.state;
    expect(call.on({ type: "mark", name })).toEqual([]);
    expect(call.state).toEqual(before);
  },
);
