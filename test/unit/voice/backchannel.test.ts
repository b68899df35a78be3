import { expect, test } from "vitest";
import { isBackchannel } from "../../../src/voice/backchannel.ts";

test.each([
  ["Uh-huh.", "en"],
  ["Okay.", "en-US"],
  ["Yes, yes, right…", "en"],
  ["Mm-hm", "en"],
  ["That's right!", "en"],
  ["okay", "sw"],
  ["Vale, de acuerdo.", "es-MX"],
  ["D'accord.", "fr"],
  ["Ja, genau", "de"],
  ["Sim, claro", "pt-BR"],
  ["Да, конечно.", "ru"],
  ["はい、はい。", "ja"],
  ["なるほど。", "ja"],
  ["嗯，好的。", "zh"],
  ["네 네", "ko"],
  ["जी हाँ", "hi"],
  ["نعم، تمام", "ar"],
  ["okay はい", "ja"],
])("%j in %s only accompanies", (text, language) => {
  expect(isBackchannel(text, language)).toBe(true);
});

test.each([
  ["Stop.", "en"],
  ["No.", "en"],
  ["Wait, okay?", "en"],
  ["Okay, but what does it cost?", "en"],
  ["Yesterday", "en"],
  ["ja", "en"],
  ["", "en"],
  ["?", "en"],
  ["はいけい", "ja"],
  ["不好", "zh"],
  ["ja aber", "de"],
])("%j in %s is meant", (text, language) => {
  expect(isBackchannel(text, language)).toBe(false);
});
