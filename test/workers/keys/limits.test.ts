import { evictDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { newOrganization } from "../../support/worker/client.ts";
import { change, createKey, gateOf, knock, stopTheClock } from "./support.ts";

/** Requests from `clients` at once, each sending its share one after the other; the statuses. */
async function burst(keys: string[], requests: number, clients = 8): Promise<number[]> {
  let sent = 0;
  const statuses: number[] = [];
  const client = async () => {
    while (sent < requests) {
      const key = keys[sent++ % keys.length] ?? "";
      statuses.push((await knock(key)).status);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return statuses;
}

const accepted = (statuses: number[]) => statuses.filter((status) => status === 200).length;

test("of 61 requests by 8 clients on one key exactly 60 pass", async () => {
  stopTheClock();
  const { apiKey } = await newOrganization();
  const statuses = await burst([apiKey], 61);
  expect(accepted(statuses)).toBe(60);
  expect(statuses.filter((status) => status === 429)).toHaveLength(1);
});

test("six keys of one organization share exactly 300, and another organization has its own", async () => {
  const clock = stopTheClock();
  const { apiKey } = await newOrganization();
  const keys = [apiKey];
  while (keys.length < 6) keys.push((await createKey(apiKey)).key);
  clock.advance(60_000);
  const statuses = await burst(keys, 366, 12);
  expect(accepted(statuses)).toBe(300);
  const other = await newOrganization();
  expect((await knock(other.apiKey)).status).toBe(200);
});

test("the windows survive the object's eviction, again and again", async () => {
  const clock = stopTheClock();
  const { apiKey } = await newOrganization();
  const other = await createKey(apiKey);
  clock.advance(60_000);
  let passed = 0;
  for (let round = 0; round < 5; round++) {
    passed += accepted(await burst([apiKey], 14));
    await evictDurableObject(gateOf(apiKey));
    clock.advance(1_000);
  }
  expect(passed).toBe(60);
  const { headers } = await knock(other.key);
  expect(headers.get("RateLimit")).toBe('"key";r=59;t=60, "org";r=239;t=55');
});

test("the window slides: it is not reset by a new minute", async () => {
  const clock = stopTheClock();
  const { apiKey } = await newOrganization();
  expect(accepted(await burst([apiKey], 30))).toBe(30);
  clock.advance(35_000);
  expect(accepted(await burst([apiKey], 40))).toBe(30);
  clock.advance(24_999);
  expect((await knock(apiKey)).status).toBe(429);
  clock.advance(1);
  expect(accepted(await burst([apiKey], 40))).toBe(30);
});

test("a rotation leaves the used-up window as it is", async () => {
  stopTheClock();
  const { apiKey } = await newOrganization();
  const { id, key } = await createKey(apiKey);
  expect(accepted(await burst([key], 60))).toBe(60);
  const rotated = await change(apiKey, id, "rotate");
  expect((await knock(rotated.body.data.key)).status).toBe(429);
  expect((await knock(key)).status).toBe(401);
});

test("each answer tells both windows and the tighter one", async () => {
  const clock = stopTheClock();
  const { apiKey } = await newOrganization();
  await knock(apiKey);
  clock.advance(20_500);
  const { headers } = await knock(apiKey);
  expect(headers.get("RateLimit-Policy")).toBe('"key";q=60;w=60, "org";q=300;w=60');
  expect(headers.get("RateLimit")).toBe('"key";r=58;t=40, "org";r=298;t=40');
  expect(headers.get("X-RateLimit-Limit")).toBe("60");
  expect(headers.get("X-RateLimit-Remaining")).toBe("58");
  expect(headers.get("X-RateLimit-Reset")).toBe("40");
});

test("after Retry-After the next request passes, and not a moment earlier", async () => {
  const clock = stopTheClock();
  const { apiKey } = await newOrganization();
  await knock(apiKey);
  clock.advance(10_001);
  await burst([apiKey], 59);
  clock.advance(2_500);
  const refused = await knock(apiKey);
  expect(refused.status).toBe(429);
  expect(refused.body.error.code).toBe("rate_limited");
  expect(refused.headers.get("Retry-After")).toBe("48");
  expect(refused.headers.get("X-RateLimit-Reset")).toBe("48");
  clock.advance(47_498);
  expect((await knock(apiKey)).status).toBe(429);
  clock.advance(502);
  expect((await knock(apiKey)).status).toBe(200);
});

test("when the organization is full, Retry-After is the organization's", async () => {
  const clock = stopTheClock();
  const { apiKey } = await newOrganization();
  const keys: string[] = [];
  while (keys.length < 6) keys.push((await createKey(apiKey)).key);
  clock.advance(60_000);
  await burst(keys.slice(0, 5), 290);
  clock.advance(30_000);
  await burst(keys.slice(5), 10);
  const refused = await knock(keys[5] ?? "");
  expect(refused.headers.get("RateLimit")).toBe('"key";r=50;t=60, "org";r=0;t=30');
  expect(refused.headers.get("X-RateLimit-Limit")).toBe("300");
  expect(refused.headers.get("Retry-After")).toBe("30");
});

test("on a machine whose clock is behind, the windows stay exact and nobody is called too early", async () => {
  const clock = stopTheClock();
  const { apiKey } = await newOrganization();
  await burst([apiKey], 40);
  await evictDurableObject(gateOf(apiKey));
  clock.advance(-5_000);
  expect(accepted(await burst([apiKey], 40))).toBe(20);
  expect((await knock(apiKey)).headers.get("Retry-After")).toBe("65");
  await evictDurableObject(gateOf(apiKey));
  clock.advance(64_999);
  expect((await knock(apiKey)).status).toBe(429);
  clock.advance(1);
  expect((await knock(apiKey)).status).toBe(200);
});
