import { expect, test } from "vitest";
import { resume } from "../../../../src/voice/turn.ts";
import { names, pick, sent, startCall } from "./drive.ts";

type Call = ReturnType<typeof startCall>;
const probablyDone = (call: Call, text: string) => call.on({ type: "caller_probably_done", text });
const resumed = (call: Call) => call.on({ type: "caller_resumed" });

function listeningCall(config: Parameters<typeof startCall>[0] = {}) {
  const call = startCall({ greeting: null, ...config });
  call.at(0).joined();
  return call;
}

test("when the caller has probably finished the model is asked, and nothing else happens", () => {
  const call = listeningCall();
  const effects = probablyDone(call.at(1000), "What time is it");
  expect(names(effects)).toEqual(["send:user_transcript", "start_model"]);
  expect(pick(effects, "start_model")).toEqual([
    { type: "start_model", turnId: 2, messages: [{ role: "user", content: "What time is it" }] },
  ]);
  expect(call.model(2, "It is ten past nine. Anything else?")).toEqual([]);
  expect(call.lines).toEqual([]);
});

test("confirmed, what was written meanwhile is the reply, and the model is not asked again", () => {
  const call = listeningCall();
  probablyDone(call.at(1000), "What time is it");
  call.delta(2, "It is ten past nine. Any");
  const effects = call.at(1400).says("What time is it");
  expect(names(effects)).toEqual(["send:user_transcript", "record", "send:agent_text", "speak"]);
  call.model(2, "thing else?");
  const audible = call.at(1600).audio(2, 0, 500);
  expect(sent(audible)).toContainEqual({
    type: "metrics",
    turn_id: 2,
    first_text_ms: 0,
    first_audio_ms: 200,
    speculation: "used",
  });
});

test("a speculation that was complete is a complete reply once confirmed", () => {
  const call = listeningCall();
  probablyDone(call, "What time is it");
  call.model(2, "It is ten.");
  const effects = call.says("What time is it");
  expect(sent(effects)).toContainEqual({
    type: "agent_text",
    turn_id: 2,
    text: "It is ten.",
    final: true,
  });
  call.at(100).spoken(2, 0, 500);
  call.at(600).tick();
  expect(call.lines.at(-1)).toBe("assistant: It is ten.");
});

test("taken back, it is cancelled; the turn has had its one speculation and is asked as ever", () => {
  const call = listeningCall();
  probablyDone(call, "I want a pizza");
  expect(names(resumed(call))).toEqual(["cancel_model"]);
  expect(resumed(call)).toEqual([]);
  expect(pick(probablyDone(call, "I want a pizza and a beer"), "start_model")).toEqual([]);
  const effects = call.at(1000).says("I want a pizza and a beer");
  expect(pick(effects, "start_model").map(({ messages }) => messages.length)).toEqual([1]);
  call.model(3, "Very well, a pizza and a beer.");
  expect(sent(call.at(1500).audio(3, 0, 100))).toContainEqual({
    type: "metrics",
    turn_id: 3,
    first_text_ms: 0,
    first_audio_ms: 500,
    speculation: "discarded",
  });
});

test("other words than those it answers drop it", () => {
  const call = listeningCall();
  probablyDone(call, "I want a pizza");
  call.delta(2, "Which");
  const effects = call.says("I want a pizza, no, a beer");
  expect(names(effects)).toEqual(["cancel_model", "send:user_transcript", "record", "start_model"]);
  expect(call.model(2, "late")).toEqual([]);
});

test("the next utterance may be speculated about again", () => {
  const call = listeningCall();
  probablyDone(call, "Hi");
  resumed(call);
  call.says("Hi there");
  call.model(3, "Hello.");
  call.at(10).spoken(3, 0, 100);
  expect(names(probablyDone(call.at(500), "What time is it"))).toContain("start_model");
});

test("one whose model failed or said nothing is forgotten, and the model is asked as ever", () => {
  const failed = listeningCall();
  probablyDone(failed, "Hi");
  expect(failed.modelFails(2)).toEqual([]);
  expect(names(failed.says("Hi"))).toContain("start_model");

  const silent = listeningCall();
  probablyDone(silent, "Hi");
  expect(silent.model(2, " ")).toEqual([]);
  expect(names(silent.says("Hi"))).toContain("start_model");
});

test.each<[string, (call: Call) => unknown]>([
  ["a lost line", (call) => call.on({ type: "client_lost" })],
  ["the end", (call) => call.on({ type: "client_closed" })],
])("%s cancels it", (_, happens) => {
  const call = listeningCall();
  probablyDone(call, "Hi");
  happens(call);
  expect(pick(call.all, "cancel_model")).toEqual([{ type: "cancel_model", turnId: 2 }]);
  expect(call.state.speculation).toBeNull();
});

test("an eviction takes it, and the model is asked as ever", () => {
  const call = listeningCall();
  probablyDone(call, "Hi");
  call.apply(resume(call.state, 10));
  expect(names(call.says("Hi"))).toContain("start_model");
});

test("there is none when it is switched off, for a goodbye, or beside a reply", () => {
  const off = listeningCall({ speculates: false });
  expect(pick(probablyDone(off, "Hi"), "start_model")).toEqual([]);

  const goodbye = listeningCall();
  expect(pick(probablyDone(goodbye, "Okay, goodbye"), "start_model")).toEqual([]);

  const thinking = listeningCall();
  thinking.says("I would like");
  expect(pick(probablyDone(thinking, "a pizza"), "start_model")).toEqual([]);
});

test("it begins with what was heard of the reply that its words have interrupted", () => {
  const call = listeningCall();
  call.says("What do you have?");
  call.model(2, "We have apples and pears. They are ripe and sweet as honey.");
  call.at(2000).spoken(2, 0, 2500);
  const effects = probablyDone(call.at(3300), "Pears please");
  expect(pick(effects, "start_model")[0]?.messages.map(({ content }) => content)).toEqual([
    "What do you have?",
    "We have apples",
    "Pears please",
  ]);
});

test("a goodbye that was speculated ends the call when it was heard", () => {
  const call = listeningCall();
  probablyDone(call, "That was all");
  call.model(2, "Thank you and goodbye.");
  call.says("That was all");
  call.at(100).spoken(2, 0, 1000);
  call.at(1100).tick();
  expect(pick(call.all, "end")).toEqual([{ type: "end", reason: "end_phrase" }]);
});
