import { expect, test } from "vitest";
import { resume } from "../../../../src/voice/turn.ts";
import { names, pick, sent, startCall } from "./drive.ts";

function askingCall(config: Parameters<typeof startCall>[0] = {}) {
  const call = startCall({ greeting: null, ...config });
  call.at(0).joined();
  call.at(1000).says("Hello");
  return call;
}

test("a model that fails is asked once more", () => {
  const call = askingCall();
  expect(pick(call.modelFails(2), "start_model")).toEqual([
    { type: "start_model", turnId: 3, messages: [{ role: "user", content: "Hello" }] },
  ]);
});

test("a model that answers nothing has failed", () => {
  const call = askingCall();
  expect(names(call.model(2, "  \n"))).toEqual(["start_model"]);
});

test("after the second failure the agent apologises, and the call ends when that was heard", () => {
  const call = askingCall();
  call.modelFails(2);
  const effects = call.modelFails(3);
  expect(pick(effects, "speak").map(({ chunk }) => chunk)).toEqual([0, 1]);
  call.at(2000).spoken(4, 0, 500);
  call.spoken(4, 1, 1500);
  call.spoken(4, 2, 1500);
  expect(pick(call.all, "end")).toEqual([]);
  call.at(9000).tick();
  expect(pick(call.all, "end")).toEqual([{ type: "end", reason: "error" }]);
  expect(call.lines.at(-1)).toBe(
    "assistant: I'm sorry, something went wrong on my side. Please try again in a moment.",
  );
});

test("a text session is told the apology and ends", () => {
  const call = askingCall({ textOnlyUntilAudio: true });
  call.modelFails(2);
  expect(names(call.modelFails(3))).toEqual(["send:agent_text", "record", "end"]);
});

test.each([
  [
    "a word",
    (call: ReturnType<typeof startCall>) => call.on({ type: "caller_partial", text: "What" }),
    2,
  ],
  ["an utterance", (call: ReturnType<typeof startCall>) => call.says("What?"), 3],
])("%s over the apology ends the call, and what was said stays", (_, speak, lines) => {
  const call = askingCall();
  call.modelFails(2);
  call.modelFails(3);
  call.at(2000).audio(4, 0, 1000);
  speak(call.at(2900));
  expect(pick(call.all, "end")).toEqual([{ type: "end", reason: "error" }]);
  expect(call.lines).toHaveLength(lines);
});

test("the count of failures begins anew with each reply", () => {
  const call = askingCall();
  call.modelFails(2);
  call.model(3, "Hello to you too.");
  call.spoken(3, 0, 100);
  call.at(5000).says("Again");
  expect(names(call.modelFails(5))).toContain("start_model");
});

test("a model that breaks off before anything was heard is asked again, and its text taken back", () => {
  const call = askingCall();
  call.delta(2, "Good morning to you. How");
  const effects = call.modelFails(2);
  expect(names(effects)).toEqual(["cancel_speech", "send:interruption", "start_model"]);
});

test("a model that breaks off while heard leaves a reply that ends there", () => {
  const call = askingCall();
  call.delta(2, "Good morning to you. How");
  call.at(2000).spoken(2, 0, 1000);
  expect(pick(call.modelFails(2), "speak").map(({ text }) => text)).toEqual(["How"]);
  call.spoken(2, 1, 200);
  call.at(3200).tick();
  expect(call.lines.at(-1)).toBe("assistant: Good morning to you. How");
  expect(call.state.phase).toBe("live");
});

test("a chunk whose synthesis fails is tried once more, then with another voice, then it ends", () => {
  const call = askingCall();
  const speak = { type: "speak", turnId: 2, chunk: 0, text: "Good morning to you. " };
  call.model(2, "Good morning to you. It is a pleasure to meet you.");
  expect(call.speechFails(2, 0)).toEqual([speak]);
  expect(call.speechFails(2, 0)).toEqual([{ ...speak, fallback: true }]);
  const effects = call.speechFails(2, 0);
  expect(sent(effects)[0]).toMatchObject({ type: "error", code: "speech_failed" });
  expect(effects.at(-1)).toEqual({ type: "end", reason: "error" });
  expect(call.lines).toEqual(["user: Hello"]);
});

test("the voice that stepped in stays for the rest of the call", () => {
  const call = askingCall();
  call.model(2, "Good morning to you.");
  call.speechFails(2, 0);
  call.speechFails(2, 0);
  call.at(2000).spoken(2, 0, 1000);
  call.at(4000).says("And now?");
  expect(pick(call.model(4, "Nothing new here."), "speak")).toMatchObject([{ fallback: true }]);
});

test("each chunk has its own second try", () => {
  const call = askingCall();
  call.model(2, "Good morning to you. It is a pleasure to meet you.");
  call.speechFails(2, 0);
  expect(names(call.speechFails(2, 1))).toEqual(["speak"]);
});

test("a lost client hears the rest, from the sentence that was cut, when it is back", () => {
  const call = askingCall();
  call.model(2, "Good morning to you. It is a pleasure to meet you today.");
  call.at(2000).spoken(2, 0, 1000);
  call.audio(2, 1, 2000);
  expect(names(call.at(3500).on({ type: "client_lost" }))).toEqual([
    "send_clear",
    "cancel_speech",
    "record",
  ]);
  const effects = call.at(8000).on({ type: "rejoined" });
  expect(pick(effects, "speak").map(({ text }) => text)).toEqual([
    "It is a pleasure to meet you today.",
  ]);
  expect(call.lines.at(-1)).toBe("assistant: Good morning to you. It is a |");
});

test("a lost client whose question was not answered yet is answered when it is back", () => {
  const call = askingCall();
  expect(names(call.on({ type: "client_lost" }))).toEqual(["cancel_model"]);
  expect(names(call.says("Are you there?"))).toEqual(["record"]);
  const effects = call.on({ type: "rejoined" });
  expect(pick(effects, "start_model")[0]?.messages).toHaveLength(2);
});

test("words that were still being understood when the client was lost replace what it missed", () => {
  const call = askingCall();
  call.model(2, "Good morning to you. It is a pleasure to meet you today.");
  call.at(2000).spoken(2, 0, 1000);
  call.at(2500).on({ type: "client_lost" });
  call.says("Something else");
  expect(names(call.at(8000).on({ type: "rejoined" }))).toEqual(["start_model"]);
});

test("a client that is back with nothing open is told the state", () => {
  const call = startCall({ greeting: null });
  call.joined();
  call.on({ type: "client_lost" });
  expect(sent(call.on({ type: "rejoined" }))).toEqual([{ type: "state", state: "listening" }]);
});

test("a socket taken over leaves the turn alone and is told the state", () => {
  const call = askingCall();
  const { reply } = call.state;
  expect(call.on({ type: "taken_over" })).toEqual([
    { type: "send", message: { type: "state", state: "thinking" } },
  ]);
  expect(call.state.reply).toEqual(reply);
});

test("after an eviction a question without an audible answer is asked again", () => {
  const call = askingCall();
  call.delta(2, "Good morning to you. How");
  const effects = call.apply(resume(call.state, 1500));
  expect(names(effects)).toContain("start_model");
  expect(names(call.modelFails(3))).toContain("start_model");
});

test("after an eviction an audible reply goes on with the text there is", () => {
  const call = askingCall();
  call.delta(2, "Good morning to you. How nice");
  call.at(2000).audio(2, 0, 500);
  const effects = call.apply(resume(call.state, 2200));
  expect(pick(effects, "speak").map(({ text }) => text)).toEqual([
    "How nice",
    "Good morning to you. ",
  ]);
  call.at(2300).spoken(2, 0, 1000);
  call.spoken(2, 1, 300);
  call.at(9000).tick();
  expect(call.lines.at(-1)).toBe("assistant: Good morning to you. How nice");
});

test("after an eviction a reply that was played meanwhile is settled, and the alarm set again", () => {
  const call = startCall();
  call.at(0).joined();
  call.spoken(1, 0, 500);
  const effects = call.apply(resume(call.state, 60_000));
  expect(names(effects)).toEqual(["record"]);
  expect(pick(effects, "set_alarm")).toHaveLength(1);
});

test("an ended call does not resume", () => {
  const call = startCall();
  call.on({ type: "client_closed" });
  expect(resume(call.state, 10).effects).toEqual([]);
});
