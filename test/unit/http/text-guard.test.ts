import { expect, test } from "vitest";
import { guardDepth, guardText, guardValue } from "../../../src/http/text-guard.ts";

test("NUL and lone surrogates are refused with their place, whole pairs pass", () => {
  expect(guardText("name", "a\0b")?.issues).toEqual([
    { path: "name", message: "must not contain the character NUL" },
  ]);
  expect(guardText("name", "a\ud800")?.failed).toBe("validation_failed");
  expect(guardText("name", "\udc00a")?.failed).toBe("validation_failed");
  expect(guardText("name", "🦜 é \u{10ffff}")).toBeNull();
});

test("every string of a value is looked at, names included, and named by its path", () => {
  expect(guardValue("body", { a: { b: ["\0"] } })?.issues?.[0]?.path).toBe("a.b.0");
  expect(guardValue("body", { a: { "\ud800": 1 } })?.issues?.[0]?.path).toBe("a");
  expect(guardValue("body", "\0")?.issues?.[0]?.path).toBe("body");
  expect(guardValue("body", JSON.parse('{"__proto__":"\\u0000"}'))?.failed).toBe(
    "validation_failed",
  );
  expect(guardValue("body", { a: [1, null, true, "fine"] })).toBeNull();
});

test("32 levels pass and 33 do not", () => {
  const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
  expect(guardDepth(nested(32))).toBeNull();
  expect(guardDepth(nested(33))?.failed).toBe("validation_failed");
  expect(guardDepth(`{"a":${nested(32)}}`)?.failed).toBe("validation_failed");
});

test("brackets inside strings are no depth, whatever is escaped before them", () => {
  const brackets = "[".repeat(100);
  expect(guardDepth(JSON.stringify({ a: brackets }))).toBeNull();
  expect(guardDepth(JSON.stringify({ a: `\\"${brackets}` }))).toBeNull();
  expect(guardDepth(`["a\\\\",${brackets}`)?.failed).toBe("validation_failed");
  expect(guardDepth(Array(100).fill("[]").join(","))).toBeNull();
});
