import fc from "fast-check";
import { expect, test } from "vitest";
import { newCallId, newId, randomBase62 } from "../../src/ids.ts";

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const instant = fc.integer({ min: 0, max: 2 ** 48 - 1 });

test("an id is its prefix, 48 bits of time and 80 random bits", () => {
  fc.assert(
    fc.property(instant, (now) => {
      const id = newId("key", now);
      expect(id).toMatch(/^key_[0-9A-HJKMNP-TV-Z]{26}$/);
      const time = [...id.slice(4, 14)].reduce((sum, c) => sum * 32 + CROCKFORD.indexOf(c), 0);
      expect(time).toBe(now);
    }),
  );
});

test("ids sort by their time", () => {
  fc.assert(
    fc.property(instant, instant, (a, b) => {
      fc.pre(a !== b);
      expect(newId("evt", a) < newId("evt", b)).toBe(a < b);
    }),
  );
});

test("a call's id has 120 random bits", () => {
  expect(newCallId(Date.now())).toMatch(/^call_[0-9A-HJKMNP-TV-Z]{34}$/);
});

test("ids of one moment differ", () => {
  const ids = Array.from({ length: 2_000 }, () => newId("req", 1));
  expect(new Set(ids).size).toBe(2_000);
});

test("every character of an alphabet is as likely as the others", () => {
  const counts = new Map<string, number>();
  for (let i = 0; i < 400; i++) {
    for (const character of randomBase62(620)) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    }
  }
  expect(counts.size).toBe(62);
  // 4,000 each on average, and eight standard deviations are 500; a plain modulo gives some 4,840.
  for (const count of counts.values()) expect(Math.abs(count - 4_000)).toBeLessThan(500);
});
