import { expect, test } from "vitest";
import { MAX_ATTEMPTS, nextDelay } from "../../../src/resources/webhooks/schedule.ts";

const HOUR = 3_600;
const published = [5, 300, 1_800, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];

test("ten attempts, at the published times", () => {
  expect(MAX_ATTEMPTS).toBe(10);
  published.forEach((delay, index) => {
    expect(nextDelay(index + 1, 0.5, null)).toBeCloseTo(delay);
  });
  expect(nextDelay(10, 0.5, null)).toBeNull();
  expect(nextDelay(10, 0.5, 60)).toBeNull();
});

test("a fifth up or down, and never beyond", () => {
  published.forEach((delay, index) => {
    expect(nextDelay(index + 1, 0, null)).toBeCloseTo(delay * 0.8);
    expect(nextDelay(index + 1, 0.999_999, null)).toBeCloseTo(delay * 1.2, 0);
  });
});

test("a receiver may ask for more patience, up to the next step", () => {
  expect(nextDelay(1, 0.5, 60)).toBe(60);
  expect(nextDelay(1, 0.5, 1)).toBe(5);
  expect(nextDelay(1, 0.5, 86_400)).toBe(300);
  expect(nextDelay(9, 0.5, 10 * 86_400)).toBe(24 * HOUR);
});
