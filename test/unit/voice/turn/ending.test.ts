import { expect, test } from "vitest";
import type { EndReason } from "../../../../src/voice/turn.ts";
import { names, pick, sent, startCall } from "./drive.ts";

function reasons(call: ReturnType<typeof startCall>) {
  return pick(call.all, "end").map(({ reason }) => reason);
}

test("an end phrase of the caller ends the call once it is written down", () => {
  const call = startCall({ greeting: null });
  call.joined();
  const effects = call.says("Okay then, GOODBYE!");
  expect(names(effects)).toEqual(["send:user_transcript", "record", "end"]);
  expect(reasons(call)).toEqual(["end_phrase"]);
});

test("an end phrase of the agent ends the call when its sentence was played", () => {
  const call = startCall({ greeting: null });
  call.at(0).joined();
  call.says("That was it");
  const effects = call.delta(2, "Thank you and goodbye. Oh, one more");
  expect(names(effects)).toContain("cancel_model");
  expect(call.delta(2, " thing. ")).toEqual([]);
  call.at(100).spoken(2, 0, 1000);
  call.at(1099).tick();
  expect(reasons(call)).toEqual([]);
  call.at(1100).tick();
  expect(reasons(call)).toEqual(["end_phrase"]);
  expect(call.lines).toEqual(["user: That was it", "assistant: Thank you and goodbye."]);
});

test("in a text session the agent's end phrase ends the call when its reply was sent", () => {
  const call = startCall({ greeting: null, textOnlyUntilAudio: true });
  call.joined();
  call.types("That was it");
  call.model(2, "Thank you and goodbye.");
  expect(call.lines.at(-1)).toBe("assistant: Thank you and goodbye.");
  expect(reasons(call)).toEqual(["end_phrase"]);
});

test("a caller who interrupts the goodbye goes on talking", () => {
  const call = startCall({ greeting: null });
  call.at(0).joined();
  call.says("That was it");
  call.model(2, "Thank you and goodbye.");
  call.at(100).spoken(2, 0, 1000);
  call.at(300).speechStarts();
  call.at(2000).says("Wait");
  expect(reasons(call)).toEqual([]);
  expect(pick(call.all, "start_model")).toHaveLength(2);
});

test("a greeting that explains the end phrase does not end the call", () => {
  const call = startCall({ greeting: "Say goodbye when you are done." });
  call.at(0).joined();
  call.spoken(1, 0, 500);
  call.at(500).tick();
  expect(reasons(call)).toEqual([]);
});

test("a call in which nobody speaks ends as idle, counted from the last speech", () => {
  const call = startCall({ idleMs: 10_000 });
  call.at(0).joined();
  call.at(1000).spoken(1, 0, 2000);
  call.at(12_999).tick();
  expect(reasons(call)).toEqual([]);
  call.at(13_000).tick();
  expect(reasons(call)).toEqual(["idle"]);
});

test("a client that is away is not idle, and is not when it is back", () => {
  const call = startCall({ greeting: null, idleMs: 10_000 });
  call.at(0).joined();
  call.at(9000).on({ type: "client_lost" });
  call.at(30_000).tick();
  call.at(31_000).on({ type: "rejoined" });
  call.at(40_999).tick();
  expect(reasons(call)).toEqual([]);
  call.at(41_000).tick();
  expect(reasons(call)).toEqual(["idle"]);
});

test("a line found broken after a long silence was broken in it, and the call is not idle", () => {
  const call = startCall({ greeting: null, idleMs: 10_000 });
  call.at(0).joined();
  call.at(50_000).on({ type: "client_lost" });
  expect(reasons(call)).toEqual([]);
});

test("the caller's words keep a call from being idle, sounds do not", () => {
  const call = startCall({ greeting: null, idleMs: 10_000 });
  call.at(0).joined();
  call.at(9000).on({ type: "caller_partial", text: "Hm" });
  call.at(15_000).speechStarts();
  call.at(18_999).tick();
  expect(reasons(call)).toEqual([]);
  call.at(19_000).tick();
  expect(reasons(call)).toEqual(["idle"]);
});

test("the longest call ends in the middle of a reply, at what was heard", () => {
  const call = startCall({ maxMs: 60_000 });
  call.at(0).joined();
  call.at(59_000).says("Hi");
  call.model(3, "Here is a long story.");
  call.at(59_500).spoken(3, 0, 1000);
  const effects = call.at(60_000).tick();
  expect(names(effects)).toEqual(["send_clear", "send:interruption", "record", "end"]);
  expect(reasons(call)).toEqual(["max_duration"]);
  expect(call.lines.at(-1)).toBe("assistant: Here is a |");
});

test.each<[EndReason, Parameters<ReturnType<typeof startCall>["on"]>[0]]>([
  ["hangup", { type: "client_closed" }],
  ["api", { type: "end_requested", reason: "api" }],
  ["key_revoked", { type: "end_requested", reason: "key_revoked" }],
])("%s ends the call once; nothing happens after it", (reason, event) => {
  const call = startCall();
  call.at(0).joined();
  call.audio(1, 0, 2000);
  const effects = call.at(900).on(event);
  expect(effects.at(-1)).toEqual({ type: "end", reason });
  expect(call.lines).toEqual(["assistant: Hello |"]);
  const after = [call.on(event), call.says("Hello?"), call.joined(), call.at(1e9).tick()];
  expect(after.flat()).toEqual([]);
});

test("a call nobody joined can be ended", () => {
  const call = startCall();
  expect(call.on({ type: "end_requested", reason: "not_joined" })).toEqual([
    { type: "end", reason: "not_joined" },
  ]);
});

test("the alarm is always set for the next thing that time will bring", () => {
  const call = startCall({ idleMs: 10_000, maxMs: 15_000 });
  const alarms = () => pick(call.all, "set_alarm").map(({ at }) => at);
  call.at(0).joined();
  expect(alarms()).toEqual([10_000]);
  call.at(100).audio(1, 0, 2000);
  call.at(200).audio(1, 0, 2000);
  expect(alarms()).toEqual([10_000]);
  call.at(300).on({ type: "speech_done", turnId: 1, chunk: 0 });
  expect(alarms()).toEqual([10_000, 4100]);
  call.at(4100).tick();
  expect(alarms()).toEqual([10_000, 4100, 14_100]);
  call.at(13_000).on({ type: "caller_partial", text: "Hm" });
  call.at(14_100).tick();
  expect(alarms()).toEqual([10_000, 4100, 14_100, 15_000]);
  call.at(15_000).tick();
  expect(reasons(call)).toEqual(["max_duration"]);
});

test("states are not sent and alarms not set after the end", () => {
  const call = startCall();
  call.joined();
  const effects = call.on({ type: "client_closed" });
  expect(sent(effects).filter(({ type }) => type === "state")).toEqual([]);
  expect(pick(effects, "set_alarm")).toEqual([]);
});
