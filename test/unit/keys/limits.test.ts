import fc from "fast-check";
import { expect, test } from "vitest";
import { decide } from "../../../src/resources/keys/admit.ts";
import type { GateKey } from "../../../src/resources/keys/gate-types.ts";
import {
  KEY_LIMIT,
  ORGANIZATION_LIMIT,
  WINDOW_MS,
  type Window,
} from "../../../src/resources/keys/window.ts";

const active: GateKey = {
  id: "key_1",
  hash: "h",
  status: "active",
  scopes: [],
  expiresAt: null,
  allowedIps: null,
  version: 1,
};

/** One organization's windows, asked as the gate asks. */
function limiter() {
  const organization: Window = [];
  const keys = new Map<number, Window>();
  return (key: number, now: number, lag = 0) => {
    const window = keys.get(key) ?? [];
    keys.set(key, window);
    const windows = { key: window, organization };
    return decide({ key: active, address: null, closed: false, windows, now, lag });
  };
}

type Accepted = { key: number; at: number };

/** The largest number of times within any `WINDOW_MS`, both ends of it looked at. */
function densest(times: number[]): number {
  let from = 0;
  let most = 0;
  for (const [index, time] of times.entries()) {
    while ((times[from] ?? time) <= time - WINDOW_MS) from++;
    most = Math.max(most, index - from + 1);
  }
  return most;
}

/** Bursts and pauses of up to seven keys: ms since the request before, and who asks. */
const arrivals = fc.array(
  fc.record({
    pause: fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min: 0, max: 40 }) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: WINDOW_MS + 1 }) },
    ),
    key: fc.integer({ min: 0, max: 6 }),
    copies: fc.integer({ min: 1, max: 30 }),
  }),
  { maxLength: 120 },
);

test("at no instant have more than 60 of a key or 300 of an organization passed in the last minute", () => {
  fc.assert(
    fc.property(arrivals, (requests) => {
      const ask = limiter();
      const accepted: Accepted[] = [];
      let now = 1_000_000;
      for (const { pause, key, copies } of requests) {
        now += pause;
        for (let i = 0; i < copies; i++) {
          if (ask(key, now).code === null) accepted.push({ key, at: now });
        }
      }
      expect(densest(accepted.map(({ at }) => at))).toBeLessThanOrEqual(ORGANIZATION_LIMIT);
      for (let key = 0; key < 7; key++) {
        const times = accepted.filter((entry) => entry.key === key).map(({ at }) => at);
        expect(densest(times)).toBeLessThanOrEqual(KEY_LIMIT);
      }
    }),
  );
});

test("nothing is refused while both windows have room", () => {
  fc.assert(
    fc.property(arrivals, (requests) => {
      const ask = limiter();
      const accepted: Accepted[] = [];
      let now = 1_000_000;
      for (const { pause, key, copies } of requests) {
        now += pause;
        for (let i = 0; i < copies; i++) {
          const recent = accepted.filter(({ at }) => at > now - WINDOW_MS);
          const mine = recent.filter((entry) => entry.key === key).length;
          const room = mine < KEY_LIMIT && recent.length < ORGANIZATION_LIMIT;
          const { code, rates } = ask(key, now);
          expect(code).toBe(room ? null : "rate_limited");
          expect(rates?.key.remaining).toBe(KEY_LIMIT - mine - (room ? 1 : 0));
          expect(rates?.organization.remaining).toBe(
            ORGANIZATION_LIMIT - recent.length - (room ? 1 : 0),
          );
          if (room) accepted.push({ key, at: now });
        }
      }
    }),
    { numRuns: 30 },
  );
});

test("the request that comes when its full windows reset passes, one that comes earlier does not", () => {
  fc.assert(
    fc.property(arrivals, (requests) => {
      const ask = limiter();
      let now = 1_000_000;
      for (const { pause, key, copies } of requests) {
        now += pause;
        for (let i = 0; i < copies; i++) {
          const { code, rates } = ask(key, now);
          if (code === null || !rates) continue;
          const full = [rates.key, rates.organization].filter(({ remaining }) => remaining === 0);
          const wait = Math.max(...full.map(({ resetMs }) => resetMs));
          expect(wait).toBeGreaterThan(0);
          expect(ask(key, now + wait - 1).code).toBe("rate_limited");
          now += wait;
          expect(ask(key, now).code).toBeNull();
        }
      }
    }),
    { numRuns: 30 },
  );
});

test("a clock that is behind makes the wait longer by as much", () => {
  const ask = limiter();
  for (let i = 0; i < KEY_LIMIT; i++) ask(0, 1_000_000);
  expect(ask(0, 1_000_000, 250).rates?.key.resetMs).toBe(WINDOW_MS + 250);
});

test.each<[string, Partial<GateKey> | undefined, string | null, boolean, string | null]>([
  ["no key", undefined, null, true, "invalid_api_key"],
  ["revoked", { status: "revoked", expiresAt: 0, allowedIps: [] }, null, true, "key_revoked"],
  ["expired", { expiresAt: 1_000_000, allowedIps: [] }, null, true, "key_expired"],
  ["not yet expired", { expiresAt: 1_000_001 }, null, false, null],
  ["a closed organization", { allowedIps: ["10.0.0.1"] }, null, true, "organization_not_found"],
  ["no address", { allowedIps: ["10.0.0.1"] }, null, false, "ip_not_allowed"],
  ["another address", { allowedIps: ["10.0.0.1"] }, "10.0.0.2", false, "ip_not_allowed"],
  ["its own address", { allowedIps: ["10.0.0.1"] }, "10.0.0.1", false, null],
])("%s: only what is let in uses up the windows", (_what, facts, address, closed, code) => {
  const windows = { key: [] as Window, organization: [] as Window };
  const key = facts && { ...active, ...facts };
  const decision = decide({ key, address, closed, windows, now: 1_000_000, lag: 0 });
  expect(decision.code).toBe(code);
  expect(windows.key).toHaveLength(code === null ? 1 : 0);
  expect(windows.organization).toHaveLength(code === null ? 1 : 0);
});
