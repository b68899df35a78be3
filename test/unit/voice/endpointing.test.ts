import { expect, test } from "vitest";
import { silenceAfter, silences } from "../../../src/voice/endpointing.ts";

test.each([
  ["Where is my order?", "en", silences.sentence],
  ["I lost my parcel.", "en", silences.sentence],
  ["Who are you with?", "en", silences.sentence],
  ["我要一杯咖啡。", "zh", silences.sentence],
  ["मेरा ऑर्डर कहाँ है।", "hi", silences.sentence],
  ["Order 4792?", "en", silences.sentence],
  ["It is 4792.", "en", silences.numberSentence],
  ["My order", "en", silences.plain],
  ["Well, my order,", "en", silences.clause],
  ["I want a pizza and", "en", silences.unfinished],
  ["I want a pizza and.", "en", silences.unfinished],
  ["Um…", "en", silences.unfinished],
  ["I thought -", "en", silences.unfinished],
  ["It is 4 7", "en", silences.unfinished],
  ["Ich möchte und", "de-AT", silences.unfinished],
  ["コーヒーと", "ja", silences.unfinished],
  ["and", "xx", silences.plain],
  ["", "en", silences.plain],
])("after %j in %s the silence is %i ms", (text, language, ms) => {
  expect(silenceAfter(text, language)).toBe(ms);
});
