import { expect, test } from "vitest";
import { transcriptAt } from "../../../../src/voice/turn.ts";
import { names, pick, sent, startCall } from "./drive.ts";

test("the greeting is spoken, and is in the transcript once it was played", () => {
  const call = startCall();
  const effects = call.at(1000).joined();
  expect(sent(effects)[0]).toEqual({
    type: "agent_text",
    turn_id: 1,
    text: "Hello there.",
    final: true,
  });
  expect(pick(effects, "speak")).toEqual([
    { type: "speak", turnId: 1, chunk: 0, text: "Hello there." },
  ]);
  call.at(1100).spoken(1, 0, 900);
  call.at(1999).tick();
  expect(call.lines).toEqual([]);
  const played = call.at(2000).tick();
  expect(pick(played, "record")).toEqual([
    { type: "record", entry: { index: 0, role: "assistant", content: "Hello there." } },
  ]);
});

test("without a greeting the call begins by listening", () => {
  const call = startCall({ greeting: null });
  expect(sent(call.joined())).toEqual([{ type: "state", state: "listening" }]);
});

test("an utterance is answered from the transcript, chunk by chunk", () => {
  const call = startCall({ greeting: null });
  call.joined();
  const asked = call.at(5000).says(" What time is it? ");
  expect(names(asked)).toEqual(["send:user_transcript", "record", "start_model"]);
  expect(pick(asked, "start_model")).toEqual([
    { type: "start_model", turnId: 2, messages: [{ role: "user", content: "What time is it?" }] },
  ]);
  const first = call.at(5200).delta(2, "It is ten past nine. I");
  expect(pick(first, "speak").map(({ text }) => text)).toEqual(["It is ten past nine. "]);
  const rest = call.model(2, " hope this helps.");
  expect(pick(rest, "speak")).toEqual([
    { type: "speak", turnId: 2, chunk: 1, text: "I hope this helps." },
  ]);
  expect(sent(rest)).toContainEqual({
    type: "agent_text",
    turn_id: 2,
    text: "It is ten past nine. I hope this helps.",
    final: true,
  });
  const audible = call.at(5400).spoken(2, 0, 1000);
  expect(sent(audible)).toEqual([
    { type: "agent_audio_start", turn_id: 2 },
    {
      type: "metrics",
      turn_id: 2,
      first_text_ms: 200,
      first_audio_ms: 400,
      speculation: "none",
    },
    { type: "state", state: "speaking" },
    { type: "mark", name: "turn-2-0" },
  ]);
  expect(names(call.spoken(2, 1, 1000))).toEqual(["send:mark", "send:agent_audio_end"]);
  expect(sent(call.at(7400).tick())).toEqual([{ type: "state", state: "listening" }]);
  expect(call.lines).toEqual([
    "user: What time is it?",
    "assistant: It is ten past nine. I hope this helps.",
  ]);
});

test("never more than two chunks of a reply are at the synthesis", () => {
  const call = startCall({ greeting: null });
  call.joined();
  call.says("Tell me a story");
  const long = "This is one sentence of it. ".repeat(4);
  expect(pick(call.model(2, long), "speak").map(({ chunk }) => chunk)).toEqual([0, 1]);
  expect(pick(call.audio(2, 0, 500), "speak")).toEqual([]);
  expect(pick(call.spoken(2, 0, 500), "speak").map(({ chunk }) => chunk)).toEqual([2]);
  expect(pick(call.spoken(2, 1, 500), "speak").map(({ chunk }) => chunk)).toEqual([3]);
  expect(pick(call.spoken(2, 2, 500), "speak")).toEqual([]);
});

test("what has nothing to say is not synthesised, and is not waited for", () => {
  const call = startCall({ greeting: null });
  call.joined();
  call.says("Hi");
  expect(pick(call.model(2, "… 🙂"), "speak")).toEqual([]);
  expect(call.state.reply).toBeNull();
});

test("partial transcripts and the final one share a turn, the reply has its own", () => {
  const call = startCall({ greeting: null });
  call.joined();
  const partial = call.on({ type: "caller_partial", text: "What" });
  const final = call.says("What time is it?");
  expect(sent(partial)).toEqual([
    { type: "user_transcript", turn_id: 1, text: "What", final: false },
  ]);
  expect(sent(final)[0]).toMatchObject({ turn_id: 1, final: true });
  expect(pick(final, "start_model")[0]?.turnId).toBe(2);
  expect(sent(call.says("Hello?"))[0]).toMatchObject({ turn_id: 3 });
});

test("words and texts that are blank are nobody's turn", () => {
  const call = startCall({ greeting: null });
  call.joined();
  expect([call.says(" "), call.types(""), call.on({ type: "caller_partial", text: "" })]).toEqual([
    [],
    [],
    [],
  ]);
});

test("the client is told of each change of state once", () => {
  const call = startCall();
  call.joined();
  call.at(10).spoken(1, 0, 100);
  call.at(500).says("Hi");
  call.model(3, "Hello again to you.");
  call.at(600).spoken(3, 0, 100);
  call.at(800).tick();
  const states = sent(call.all).flatMap((message) =>
    message.type === "state" ? [message.state] : [],
  );
  expect(states).toEqual(["thinking", "speaking", "thinking", "speaking", "listening"]);
});

test("the transcript of a running call ends with what was heard so far", () => {
  const call = startCall();
  call.joined();
  call.audio(1, 0, 400);
  expect(transcriptAt(call.state, 450)).toEqual([
    { index: 0, role: "assistant", content: "Hello" },
  ]);
  expect(call.lines).toEqual([]);
});

test("in a text session nothing is synthesised and a reply is delivered when it was sent", () => {
  const call = startCall({ textOnlyUntilAudio: true });
  call.joined();
  expect(call.lines).toEqual(["assistant: Hello there."]);
  call.types("Hi");
  const effects = call.model(3, "Good morning. How are you?");
  expect(names(effects)).toEqual(["send:agent_text", "send:agent_text", "record"]);
  expect(call.lines).toEqual([
    "assistant: Hello there.",
    "user: Hi",
    "assistant: Good morning. How are you?",
  ]);
  expect(pick(call.all, "speak")).toEqual([]);
});

test("a client whose voice comes a little later hears the greeting it was shown", () => {
  const call = startCall({ textOnlyUntilAudio: true });
  call.at(0).joined();
  const effects = call.at(1000).on({ type: "audio_received" });
  expect(names(effects)).toEqual(["speak"]);
  call.at(1100).spoken(1 + 1, 0, 500);
  call.at(1200).speechStarts();
  expect(call.lines).toEqual(["assistant: Hello there."]);
  expect(pick(call.all, "record")).toHaveLength(1);
});

test.each([
  ["much later", 6000, []],
  ["after the caller has said something", 1000, ["Hi"]],
])("a voice that comes %s is not greeted again", (_, ms, typed) => {
  const call = startCall({ textOnlyUntilAudio: true });
  call.at(0).joined();
  for (const text of typed) call.types(text);
  expect(names(call.at(ms).on({ type: "audio_received" }))).toEqual([]);
  expect(call.state.voice).toBe(true);
});
