import * as fc from "fast-check";
import { expect, test } from "vitest";
import { speakable } from "../../../src/voice/speakable.ts";
import { holds } from "./holds.ts";

test.each([
  ["**Very** good, _really_ `good`.", "Very good, really good."],
  ["## Opening hours\n- Monday\n- Tuesday", "Opening hours Monday Tuesday"],
  ["See [our page](https://example.com/a_(b)?c=1).", "See our page."],
  ["> quoted\n\n---\n", "quoted"],
  ["| Size | Price |\n|---|:-:|\n| S | low |", "Size, Price S, low"],
  ["```js\nlet a\n```", "let a"],
  ["half of **it", "half of it"],
  ["2 * 3 is 6, and snake_case stays", "2 * 3 is 6, and snake_case stays"],
  ["Great 👍🏽 news 🎉!", "Great news!"],
  ["It is 3 in #1 & ©2020.", "It is 3 in #1 & ©2020."],
])("of %j only the words are said", (written, said) => {
  expect(speakable(written, "en")).toBe(said);
});

test.each([
  ["Write to ada.lovelace@example.com.", "en", "Write to ada dot lovelace at example dot com."],
  ["a-b_c@example.co.uk", "de", "a Minus b Unterstrich c ät example Punkt co Punkt uk"],
  ["Go to https://www.example.com/help/?a=1#b.", "en", "Go to example dot com slash help."],
  ["Visita www.ejemplo.es/ayuda", "es", "Visita ejemplo punto es barra ayuda"],
  ["It is on example.com, too.", "en", "It is on example dot com, too."],
  ["Node.js is nice.Really.", "en", "Node.js is nice.Really."],
])("the address in %j (%s) is read out", (written, language, said) => {
  expect(speakable(written, language)).toBe(said);
});

test.each([
  ["It is $5.50.", "en", "It is 5.50 dollars."],
  ["It is $1.", "en-US", "It is 1 dollar."],
  ["It is $20", "en-AU", "It is 20 Australian dollars"],
  ["It is 20 USD or USD 1,200.", "en", "It is 20 US dollars or 1,200 US dollars."],
  ["Das kostet 1.200,50 €.", "de", "Das kostet 1.200,50 Euro."],
  ["Cuesta 5 €", "es", "Cuesta 5 euros"],
  ["It made $5 million.", "en", "It made $5 million."],
  ["5 km at 20 km/h", "en", "5 kilometers at 20 kilometers per hour"],
  ["1 kg, 2.5 kg", "en", "1 kilogram, 2.5 kilograms"],
  ["20% of 30 min", "en", "20 percent of 30 minutes"],
  ["Es sind 21 °C", "de", "Es sind 21 Grad Celsius"],
  ["5 in all, 5G, 3 more, 10 m²", "en", "5 in all, 5G, 3 more, 10 m²"],
  ["Call 4155550123, order 4792.", "en", "Call 4 1 5 5 5 5 0 1 2 3, order 4792."],
  ["Version 3.5 at 10:30", "en", "Version 3.5 at 10:30"],
])("the quantity in %j (%s) is said in words", (written, language, said) => {
  expect(speakable(written, language)).toBe(said);
});

test("what is said already in words stays, and a language nobody knows does no harm", () => {
  expect(speakable("Where is my order?", "xx-nonsense-9")).toBe("Where is my order?");
  expect(speakable("It is $5.", "not a tag")).toBe("It is 5 dollars.");
  expect(speakable("🎉 --- ", "en")).not.toMatch(/[\p{L}\p{N}]/u);
});

test("any text is spoken without failing, and its words without figures stay", () => {
  holds(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(typeof speakable(text, "en")).toBe("string");
    }),
  );
  const word = fc.constantFrom("apples", "Über", "りんご", "да", "e.g.", "Dr.");
  holds(
    fc.property(fc.array(word), (words) => {
      expect(speakable(words.join(" "), "en")).toBe(words.join(" "));
    }),
  );
});
