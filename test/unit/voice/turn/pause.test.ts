import { expect, test } from "vitest";
import { resume, transcriptAt } from "../../../../src/voice/turn.ts";
import { names, pick, sent, startCall } from "./drive.ts";

const text = "We have apples and pears. They are ripe and sweet as honey.";

/** A reply of two sentences, the first sent and being played, the second at the synthesis. */
function speakingCall() {
  const call = startCall({ greeting: null });
  call.at(0).joined();
  call.at(1000).says("What do you have?");
  call.model(2, text);
  call.at(2000).spoken(2, 0, 2500);
  return call;
}

const partial = (call: ReturnType<typeof startCall>, words: string) =>
  call.on({ type: "caller_partial", text: words });

test("at a sound the agent falls silent at once, and nothing is decided yet", () => {
  const call = speakingCall();
  const effects = call.at(3300).speechStarts();
  expect(names(effects)).toEqual(["send_clear", "cancel_speech", "send:agent_audio_end"]);
  expect(sent(effects)).toContainEqual({ type: "state", state: "listening" });
  expect(transcriptAt(call.state, 4000).at(-1)?.content).toBe("We have apples");
  expect(call.at(3400).speechStarts()).toEqual([]);
});

test("a sound without a word: the reply goes on from the word where it stopped, as one line", () => {
  const call = speakingCall();
  call.at(3300).speechStarts();
  expect(pick(call.at(4799).tick(), "speak")).toEqual([]);
  expect(pick(call.at(4800).tick(), "speak").map(({ chunk, text }) => [chunk, text])).toEqual([
    [2, " and pears. "],
    [3, "They are ripe and sweet as honey."],
  ]);
  const audible = call.at(5000).spoken(2, 2, 1100);
  expect(sent(audible)).toEqual([
    { type: "agent_audio_start", turn_id: 2 },
    { type: "mark", name: "turn-2-2" },
  ]);
  call.spoken(2, 3, 3000);
  call.at(10_000).tick();
  expect(call.lines).toEqual(["user: What do you have?", `assistant: ${text}`]);
  expect(sent(call.all).filter(({ type }) => type === "interruption")).toEqual([]);
});

test("the alarm is set for the moment the reply goes on", () => {
  const call = speakingCall();
  expect(pick(call.at(3300).speechStarts(), "set_alarm")).toEqual([
    { type: "set_alarm", at: 4800 },
  ]);
});

test.each(["Uh-huh.", "okay", "Yes, yes."])("%j lets the reply go on at once", (words) => {
  const call = speakingCall();
  call.at(3300).speechStarts();
  expect(partial(call.at(3500), words)).toEqual([]);
  const effects = call.at(3900).says(words);
  expect(names(effects)).toEqual(["speak", "speak"]);
  expect(call.lines).toEqual(["user: What do you have?"]);
});

test.each(["Uh-huh.", "okay"])("%j without a sound before it does not even pause", (words) => {
  const call = speakingCall();
  expect([...partial(call.at(3300), words), ...call.at(3500).says(words)]).toEqual([]);
});

test.each(["Stop", "No", "Wait", "okay but what else"])(
  "%j confirms: the reply ends at what was heard",
  (words) => {
    const call = speakingCall();
    call.at(3300).speechStarts();
    const effects = partial(call.at(3700), words);
    expect(names(effects)).toEqual(["send:interruption", "record", "send:user_transcript"]);
    expect(sent(effects)[0]).toEqual({
      type: "interruption",
      turn_id: 2,
      heard_text: "We have apples",
      heard_ms: 1300,
    });
    const { messages } = pick(call.at(4000).says(words), "start_model")[0] ?? {};
    expect(messages?.map(({ content }) => content)).toEqual([
      "What do you have?",
      "We have apples",
      words,
    ]);
  },
);

test("words that come after the reply went on cut it there", () => {
  const call = speakingCall();
  call.at(3300).speechStarts();
  call.at(4800).tick();
  call.at(5000).audio(2, 2, 1100);
  const effects = partial(call.at(5900), "Stop");
  expect(names(effects).slice(0, 2)).toEqual(["send_clear", "cancel_speech"]);
  expect(call.lines.at(-1)).toBe("assistant: We have apples and pears. |");
});

test("who says yes over the last word of a reply answers it", () => {
  const call = startCall({ greeting: null });
  call.at(0).joined();
  call.says("Hi");
  call.model(2, "Shall I book the table for you?");
  call.at(1000).spoken(2, 0, 2000);
  call.at(2800).speechStarts();
  expect(names(call.at(3200).says("Yes."))).toContain("start_model");
  expect(call.lines.slice(1)).toEqual(["assistant: Shall I book the table for |", "user: Yes."]);
});

test("a yes that began before the agent was heard is a turn", () => {
  const call = startCall({ greeting: null });
  call.at(0).joined();
  call.says("Hi");
  call.model(2, text);
  partial(call.at(900), "Yes");
  call.at(1000).spoken(2, 0, 2500);
  expect(names(call.at(1200).says("Yes"))).toContain("start_model");
});

test("an end phrase is never only an aside", () => {
  const call = startCall({
    greeting: "Hello there, how can I help you?",
    endCallPhrases: ["okay"],
  });
  call.at(0).joined();
  call.audio(1, 0, 2000);
  expect(pick(call.at(500).says("Okay."), "end")).toEqual([{ type: "end", reason: "end_phrase" }]);
});

test("marks and audio of what was dropped prove nothing about what is said again", () => {
  const call = speakingCall();
  call.at(3300).speechStarts();
  call.at(4800).tick();
  const before = call.state;
  call.on({ type: "mark", name: "turn-2-0" });
  call.spoken(2, 1, 3000);
  call.speechFails(2, 1);
  expect(call.state).toEqual(before);
});

test("text that the model writes meanwhile is said after the pause", () => {
  const call = startCall({ greeting: null });
  call.at(0).joined();
  call.says("What do you have?");
  call.delta(2, "We have apples and pears. They");
  call.at(2000).spoken(2, 0, 2500);
  call.at(3300).speechStarts();
  expect(pick(call.model(2, " are ripe and sweet."), "speak")).toEqual([]);
  expect(pick(call.at(4800).tick(), "speak").map((effect) => effect.text)).toEqual([
    " and pears. ",
    "They are ripe and sweet.",
  ]);
});

test("a pause before anything was heard starts the reply from its beginning", () => {
  const call = speakingCall();
  call.at(2010).speechStarts();
  expect(pick(call.at(3510).tick(), "speak").map((effect) => effect.text)).toEqual([
    "We have apples and pears. ",
    "They are ripe and sweet as honey.",
  ]);
});

test("paused twice it is still one line, and nothing is said twice", () => {
  const call = speakingCall();
  call.at(3300).speechStarts();
  call.at(4800).tick();
  call.at(5000).spoken(2, 2, 1100);
  call.audio(2, 3, 1000);
  call.at(6500).speechStarts();
  const again = pick(call.at(8000).tick(), "speak");
  expect(again.map((effect) => effect.text)).toEqual([" are ripe and sweet as honey."]);
  call.at(8100).spoken(2, again[0]?.chunk ?? 0, 2000);
  call.at(12_000).tick();
  expect(call.lines.at(-1)).toBe(`assistant: ${text}`);
});

test("after three sounds in vain only words interrupt the reply", () => {
  const call = speakingCall();
  const pauses = () => pick(call.all, "send_clear").length;
  for (let at = 2500; pauses() < 3; at += 2000) {
    call.at(at).speechStarts();
    call.at(at + 1500).tick();
    const chunk = (call.state.reply?.requested ?? 0) - 2;
    call.at(at + 1600).audio(2, chunk, 500);
  }
  expect(call.speechStarts()).toEqual([]);
  expect(names(partial(call, "Stop"))).toContain("send:interruption");
});

test("a paused reply survives an eviction and a lost line", () => {
  const evicted = speakingCall();
  evicted.at(3300).speechStarts();
  expect(names(evicted.apply(resume(evicted.state, 4000)))).toEqual([]);
  expect(pick(evicted.at(4800).tick(), "speak")).toHaveLength(2);

  const lost = speakingCall();
  lost.at(3300).speechStarts();
  lost.at(3500).on({ type: "client_lost" });
  expect(lost.lines.at(-1)).toBe("assistant: We have apples |");
  const effects = lost.at(9000).on({ type: "rejoined" });
  expect(pick(effects, "speak")[0]?.text).toBe("and pears. ");
});
