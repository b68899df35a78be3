import fc from "fast-check";
import { expect, test } from "vitest";
import { addressMatches, canonicalRange } from "../../../src/resources/keys/address.ts";

test.each([
  ["10.1.2.3", "10.1.2.3"],
  [" 10.1.2.3 ", "10.1.2.3"],
  ["10.1.2.3/32", "10.1.2.3/32"],
  ["10.1.2.3/8", "10.0.0.0/8"],
  ["0.0.0.0/0", "0.0.0.0/0"],
  ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
  ["2001:db8:1:2::ffff/48", "2001:db8:1::/48"],
  ["::/0", "::/0"],
  ["::ffff:10.1.2.3", "10.1.2.3"],
  ["::FFFF:0a01:0203", "10.1.2.3"],
  ["::ffff:10.1.2.3/104", "10.0.0.0/8"],
  ["::10.1.2.3", "::a01:203"],
  ["64:ff9b::192.0.2.33", "64:ff9b::c000:221"],
])("%s is kept as %s", (text, canonical) => {
  expect(canonicalRange(text)).toBe(canonical);
});

test.each([
  "",
  "/8",
  "1",
  "10.1.2",
  "10.1.2.3.4",
  "10.1.2.256",
  "010.1.2.3",
  "10.1.2.03",
  "0x0a.1.2.3",
  "167838211",
  "10.1.2.3/33",
  "10.1.2.3/-1",
  "10.1.2.3/",
  "10.1.2.3/8/8",
  "10.1.2.3/1e1",
  "10.1.2.3, 10.1.2.4",
  "::ffff:010.1.2.3",
  "::ffff:10.1.2.256",
  "::ffff:10.1.2.3/95",
  "::1/129",
  "fe80::1%eth0",
  "[::1]",
  "1::2::3",
  "example.com",
  "*",
])("%j is neither address nor range", (text) => {
  expect(canonicalRange(text)).toBeNull();
});

const byte = fc.integer({ min: 0, max: 255 });
const ipv4 = fc.tuple(byte, byte, byte, byte);
const numberOf = (bytes: number[]) => bytes.reduce((sum, part) => sum * 256 + part, 0);

test("an address is inside a range exactly when its leading bits are the range's", () => {
  fc.assert(
    fc.property(ipv4, ipv4, fc.integer({ min: 0, max: 32 }), (inside, base, bits) => {
      const range = canonicalRange(`${base.join(".")}/${bits}`) ?? "";
      const block = 2 ** (32 - bits);
      const expected = Math.floor(numberOf(inside) / block) === Math.floor(numberOf(base) / block);
      expect(addressMatches(inside.join("."), [range])).toBe(expected);
      expect(addressMatches(`::ffff:${inside.join(".")}`, [range])).toBe(expected);
    }),
  );
});

test("whatever is accepted is in its own range, and its canonical form is stable", () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), (text) => {
      const canonical = canonicalRange(text);
      fc.pre(canonical !== null);
      expect(canonicalRange(canonical)).toBe(canonical);
      if (!text.includes("/")) expect(addressMatches(text.trim(), [canonical])).toBe(true);
    }),
  );
});

test("no IPv6 address is inside an IPv4 range, but a mapped one", () => {
  expect(addressMatches("::1", ["0.0.0.0/0"])).toBe(false);
  expect(addressMatches("::10.0.0.1", ["10.0.0.0/8"])).toBe(false);
  expect(addressMatches("10.0.0.1", ["::/0"])).toBe(false);
});
