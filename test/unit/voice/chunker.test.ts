import * as fc from "fast-check";
import { expect, test } from "vitest";
import { emptyChunker, flushText, pushText } from "../../../src/voice/chunker.ts";
import { holds } from "./holds.ts";

/** The chunks of pieces that arrive one after the other, the flushed rest last. */
function chunksOf(...pieces: string[]): string[] {
  let chunker = emptyChunker;
  const chunks: string[] = [];
  for (const piece of pieces) {
    const result = pushText(chunker, piece);
    chunker = result.chunker;
    chunks.push(...result.chunks);
  }
  const rest = flushText(chunker);
  return rest === "" ? chunks : [...chunks, rest];
}

const opening = "Let me have a look. ";

test.each([
  ["the first chunk may end at a clause", ["Good morning, ", "how can I help you today?"]],
  ["a first chunk of one word is too short", ["Yes, I can do that, ", "no problem."]],
  [
    "later chunks end at sentences",
    [opening, "It is open from nine, every day, all year. ", "Bye."],
  ],
  ["a short sentence joins the next", [opening, "Yes. It is open every single day. ", "Bye."]],
  ["a question and an exclamation", [opening, "Would you like to book one now?! ", "Great!"]],
  ["an ellipsis", [opening, "Let me think about it for a bit… ", "Done."]],
  ["titles", [opening, "You will see Dr. Smith and Mr. J. Jones there. ", "Bye."]],
  ["latin abbreviations", [opening, "Bring some papers, e.g. a passport, i.e. proof. ", "Bye."]],
  ["decimals", [opening, "It costs 3.5 euros and weighs 10.25 kilos. ", "Bye."]],
  ["numbers of a list", [opening, "1. Open the front door quietly\n", "2. Close it behind you"]],
  ["a closing quotation mark stays", [opening, 'She said "come to the front desk." ', "Bye."]],
  ["Chinese", ["好的，我来看看，", "明天上午十点半有一个空位置。", "您要预约吗？"]],
  ["Chinese with quotation marks", ["好的，我来看看，", "他说「明天上午十点有空位置。」", "好。"]],
  ["Arabic", ["مرحبا بك اليوم، ", "هل تريد أن تحجز موعدا غدا صباحا؟ ", "نعم."]],
  ["Hindi", ["नमस्ते जी, ", "कैसे हैं आप, कल सुबह दस बजे एक समय खाली है। ", "ठीक है।"]],
])("%s", (_, chunks) => {
  expect(chunksOf(chunks.join(""))).toEqual(chunks);
});

test("a sentence is spoken as soon as the space after it has arrived", () => {
  expect(pushText(emptyChunker, "Let me have a look.").chunks).toEqual([]);
  expect(pushText(emptyChunker, "Let me have a look. ").chunks).toEqual(["Let me have a look. "]);
});

test("text without any end is cut at a word, or anywhere when it has none", () => {
  const words = chunksOf("word ".repeat(100));
  expect(words.every((chunk) => chunk.length <= 220 && chunk.endsWith("word "))).toBe(true);
  const emoji = chunksOf(`a${"😀".repeat(300)}`);
  expect(emoji.every((chunk) => chunk.length <= 220 && chunk.isWellFormed())).toBe(true);
});

const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "Hello",
        "Dr. ",
        "3.5",
        ". ",
        "? ",
        ", ",
        "。",
        "，",
        "\n",
        "  ",
        '." ',
        "e.g. ",
      ),
      fc.string({ unit: "grapheme", maxLength: 12 }),
      fc.lorem({ mode: "sentences", maxCount: 3 }),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(""));

test("the chunks joined are the text, and do not depend on how it arrived", () => {
  const property = fc.property(text, fc.array(fc.integer({ min: 1, max: 9 })), (whole, sizes) => {
    const pieces: string[] = [];
    let at = 0;
    for (const size of sizes) {
      pieces.push(whole.slice(at, at + size));
      at += size;
    }
    const chunks = chunksOf(...pieces, whole.slice(at));
    expect(chunks.join("")).toBe(whole);
    expect(chunks).toEqual(chunksOf(whole));
    expect(chunks).not.toContain("");
  });
  holds(property, 500);
});
