import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  addAudio,
  addChunk,
  echoMark,
  emptyPlayback,
  finishChunk,
  heardBy,
  playedAt,
  restartChunk,
  textNotHeard,
} from "../../../src/voice/playback.ts";
import { holds } from "./holds.ts";

/** Chunks sent at once at time 1000, each with its audio complete. */
function sent(...chunks: [text: string, ms: number][]) {
  return chunks.reduce((playback, [text, ms], index) => {
    return finishChunk(addAudio(addChunk(playback, text), index, ms, 1000), index);
  }, emptyPlayback);
}

const heard = (playback: typeof emptyPlayback, now: number, echoes = false) =>
  heardBy(playback, now, echoes).text;

test("nothing was heard before audio was sent", () => {
  expect(heardBy(addChunk(emptyPlayback, "Hello."), 5000, false)).toEqual({ text: "", ms: 0 });
});

test.each([
  [1000, ""],
  [1100, ""],
  [1300, "aaaa"],
  [1530, "aaaa"],
  [1540, "aaaa bbbb"],
  [1880, "aaaa bbbb"],
  [2000, "aaaa bbbb cc. "],
  [9999, "aaaa bbbb cc. "],
])("by %i ms the words half played are heard: %j", (now, text) => {
  expect(heard(sent(["aaaa bbbb cc. ", 1000]), now)).toBe(text);
});

test("chunks follow one another without a gap", () => {
  const playback = sent(["One. ", 500], ["Two. ", 500]);
  expect(heardBy(playback, 1500, false)).toEqual({ text: "One. ", ms: 500 });
  expect(heardBy(playback, 1900, false)).toEqual({ text: "One. Two.", ms: 900 });
  expect(playedAt(playback, false)).toBe(2000);
});

test("a client that ran dry goes on when more is sent", () => {
  const first = sent(["One. ", 500]);
  const both = finishChunk(addAudio(addChunk(first, "Two. "), 1, 500, 3000), 1);
  expect(heardBy(first, 2999, false).ms).toBe(500);
  expect(heardBy(both, 3200, false).ms).toBe(700);
  expect(playedAt(both, false)).toBe(3500);
});

test("of a chunk still being synthesised the speed so far tells how far it is", () => {
  const first = sent(["aaaa bbbb ", 1000]);
  const growing = addAudio(addChunk(first, "cccc dddd eeee ffff"), 1, 500, 1000);
  expect(heard(growing, 2500)).toBe("aaaa bbbb cccc");
  expect(playedAt(growing, false)).toBeNull();
});

test("scripts without spaces are cut between words, not inside them", () => {
  const playback = sent(["明天上午有空。", 700]);
  const parts = [1000, 1150, 1350, 1700].map((now) => heard(playback, now));
  expect(parts).toEqual(["", "明天", "明天上午", "明天上午有空。"]);
});

test("a chunk begun anew counts the better of its two attempts", () => {
  const partly = addAudio(addChunk(emptyPlayback, "aaaa bbbb cccc dddd"), 0, 1000, 1000);
  const again = finishChunk(addAudio(restartChunk(partly, 0), 0, 2000, 1000), 0);
  expect(heard(again, 2000)).toBe("aaaa bbbb");
  expect(heard(again, 2200)).toBe("aaaa bbbb");
  expect(heard(again, 3400)).toBe("aaaa bbbb cccc");
  expect(heard(again, 4000)).toBe("aaaa bbbb cccc dddd");
});

test("an echoed mark proves what is before it, and that what is after it is still to come", () => {
  const playback = sent(["One. ", 500], ["Two. ", 500], ["Three.", 500]);
  const early = echoMark(playback, 0, 1100);
  expect(heardBy(early, 1100, true)).toEqual({ text: "One. ", ms: 500 });
  const late = echoMark(playback, 0, 1900);
  expect(heardBy(late, 1900, true)).toEqual({ text: "One. ", ms: 500 });
  expect(playedAt(late, true)).toBe(1900 + 1000 + 1500);
  expect(playedAt(echoMark(late, 2, 2950), true)).toBe(2950);
});

test("a client that echoes marks is never more than a chunk ahead of them", () => {
  const playback = sent(["One. ", 500], ["Two. ", 500], ["Three.", 500]);
  expect(heard(playback, 9000, true)).toBe("One. ");
  expect(heard(echoMark(playback, 0, 1500), 9000, true)).toBe("One. Two. ");
  expect(heard(playback, 9000, false)).toBe("One. Two. Three.");
});

test("marks that come twice, out of order, or before their audio change nothing", () => {
  const playback = echoMark(sent(["One. ", 500], ["Two. ", 500]), 1, 1500);
  expect(echoMark(playback, 1, 1600)).toBe(playback);
  expect(echoMark(playback, 0, 1600)).toBe(playback);
  const growing = addAudio(addChunk(emptyPlayback, "One. "), 0, 100, 1000);
  expect(echoMark(growing, 0, 1600)).toBe(growing);
});

test("a chunk with nothing to say is passed over with the audio around it", () => {
  const playback = addChunk(sent(["One. ", 500]), "… ");
  expect(heardBy(playback, 1400, false).text).toBe("One.");
  expect(heardBy(playback, 1500, false).text).toBe("One. … ");
  expect(playedAt(playback, false)).toBe(1500);
});

test("what was not heard begins at the sentence that was cut", () => {
  const playback = sent(["One two. ", 500], ["Three four. ", 500], ["Five.", 500]);
  const rest = (now: number) => textNotHeard(playback, heardBy(playback, now, false));
  expect(rest(1000)).toBe("One two. Three four. Five.");
  expect(rest(1700)).toBe("Three four. Five.");
  expect(rest(2000)).toBe("Five.");
  expect(rest(2500)).toBe("");
});

test("what is heard is always the beginning of the text, and without marks only grows", () => {
  const piece = fc.record({ ms: fc.nat(900), gap: fc.nat(900) });
  const chunk = fc.record({
    text: fc.lorem({ maxCount: 8 }),
    pieces: fc.array(piece, { maxLength: 5 }),
  });
  const property = fc.property(fc.array(chunk, { maxLength: 5 }), (chunks) => {
    const text = chunks.map((each) => `${each.text} `).join("");
    let playback = emptyPlayback;
    let now = 0;
    let before = 0;
    for (const [index, each] of chunks.entries()) {
      playback = addChunk(playback, `${each.text} `);
      for (const { ms, gap } of each.pieces) {
        playback = addAudio(playback, index, ms, now);
        now += gap;
        const { text: soFar, ms: msSoFar } = heardBy(playback, now, false);
        expect(text.startsWith(soFar)).toBe(true);
        expect(msSoFar).toBeGreaterThanOrEqual(before);
        before = msSoFar;
      }
      playback = finishChunk(playback, index);
    }
  });
  holds(property, 300);
});
