import { expect, test } from "vitest";
import { saysPhrase } from "../../../src/voice/end-phrase.ts";

test.each([
  ["Okay, goodbye!", "goodbye", true],
  ["GOOD-BYE then", "good bye", true],
  ["That’s all.", "that's all", true],
  ["goodbyes are hard", "goodbye", false],
  ["an abbey", "bye", false],
  ["好的，再见。", "再见", true],
  ["Auf Wiedersehen", "auf wiedersehen", true],
  ["AU REVOIR, À BIENTÔT", "à bientôt", true],
  ["anything", " ?! ", false],
])("%j says %j: %s", (text, phrase, said) => {
  expect(saysPhrase(text, ["never said", phrase])).toBe(said);
});
