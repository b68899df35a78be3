import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { expect, onTestFinished, test, vi } from "vitest";
import { KeyGateObject } from "../../../src/resources/keys/gate.ts";
import { newOrganization, request } from "../../support/worker/client.ts";
import { countNeonRequests, createKey, gateOf, knock, stopTheClock } from "./support.ts";

test("an ordinary GET makes one object hop and one Neon request", async () => {
  const { apiKey } = await newOrganization();
  await knock(apiKey);
  const hops = vi.spyOn(KeyGateObject.prototype, "admit");
  onTestFinished(() => hops.mockRestore());
  const neonRequests = countNeonRequests();
  expect((await request("GET", "/v1/auth/keys", { key: apiKey })).status).toBe(200);
  expect([hops.mock.calls.length, neonRequests()]).toEqual([1, 1]);
});

test("an evicted gate decides from its own storage, without a database", async () => {
  const { apiKey } = await newOrganization();
  await knock(apiKey);
  await evictDurableObject(gateOf(apiKey));
  const neonRequests = countNeonRequests();
  expect((await knock(apiKey)).status).toBe(200);
  expect(neonRequests()).toBe(0);
});

test("first requests that arrive together fill the gate once", async () => {
  const { apiKey } = await newOrganization();
  const neonRequests = countNeonRequests();
  const answers = await Promise.all(Array.from({ length: 10 }, () => knock(apiKey)));
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
  expect(neonRequests()).toBe(1);
});

test("what the gate remembers of requests does not grow, however often it is evicted", async () => {
  const clock = stopTheClock();
  const { apiKey } = await newOrganization();
  const other = await createKey(apiKey);
  for (let i = 0; i < 10; i++) {
    await knock(apiKey);
    await knock(other.key);
    clock.advance(40_000);
    await evictDurableObject(gateOf(apiKey));
  }
  const hits = await runInDurableObject(gateOf(apiKey), (_gate, state) =>
    state.storage.sql.exec("SELECT count(*) AS hits FROM hits").one(),
  );
  expect(hits).toEqual({ hits: 4 });
});
