import { setTimeout as delay } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { agentInput } from "../support/agent-input.ts";
import { apiClient } from "../support/node/api.ts";
import { type Receiver, startReceiver } from "../support/node/receiver.ts";
import { type StackProcess, startStackProcess, temporaryState } from "../support/node/stack.ts";

const WAIT = { timeout: 30_000, interval: 50 };
/** For what counts against a key's sixty requests a minute. */
const ASK = { timeout: 30_000, interval: 1_000 };
/** The sweeper's patience with the queue, and the lease of an attempt; both in real time. */
const OVERDUE_MS = 31_000;
const LEASE_MS = 91_000;
const DAY_SECONDS = 86_400;

const state = temporaryState();
let receiver: Receiver;
let stack: StackProcess;

/** The receiver's port, spoken to in TLS, which it does not speak. */
const tlsOrigin = () => receiver.origin.replace("http:", "https:");

async function start() {
  stack = await startStackProcess({
    stateDir: state.stateDir,
    env: { WEBHOOK_DEV_ORIGINS: `${receiver.origin},${tlsOrigin()}` },
  });
}

beforeAll(async () => {
  receiver = await startReceiver();
  await start();
});
afterAll(async () => {
  await stack.stop();
  await state.remove();
  await receiver.close();
});

let customers = 0;

/** A key whose callback misbehaves in its own way, and an agent to call. */
async function newCustomer(behaviour: string, origin = receiver.origin) {
  customers += 1;
  const path = `/${behaviour}/${customers}`;
  const operator = apiClient(stack.ready.baseUrl, stack.ready.apiKey);
  const made = await operator("POST", "/v1/auth/keys", { callbackUrl: origin + path });
  expect(made.status).toBe(201);
  const { key, webhookSecret } = made.body.data;
  const agent = await apiClient(stack.ready.baseUrl, key)("POST", "/v1/agents", agentInput);
  const call = (method: string, at: string, json?: object) =>
    apiClient(stack.ready.baseUrl, key)(method, at, json);
  return {
    webhookSecret: webhookSecret as string,
    hits: () => receiver.hits(path),
    call,
    /** One event: a call begins. */
    async begin(): Promise<string> {
      const json = { assistantId: agent.body.data.id, type: "web" };
      const started = await call("POST", "/v1/calls/initiate", json);
      expect(started.status).toBe(201);
      return started.body.callId;
    },
    /** The records of one call's events, once there are `count`; oldest first. */
    async history(callId: string, count: number) {
      const ids = await vi.waitFor(async () => {
        const { body } = await call("GET", `/v1/webhooks/history?callId=${callId}&pageSize=100`);
        expect(body.data.items).toHaveLength(count);
        return (body.data.items as { id: string }[]).map(({ id }) => id).reverse();
      }, ASK);
      const records = ids.map(async (id) => {
        const detail = await call("GET", `/v1/webhooks/history/${id}`);
        return detail.body.data as Record<string, unknown>;
      });
      return Promise.all(records);
    },
  };
}

async function control(method: string, path: string, json?: object) {
  const body = json ? { body: JSON.stringify(json) } : {};
  const answer = await fetch(`${stack.ready.worldUrl}${path}`, { method, ...body });
  expect(answer.ok).toBe(true);
}
const advance = (seconds: number) => control("POST", "/clock", { advanceSeconds: seconds });

test("the schedule is walked to its end: ten attempts, each verifiable, then no more; a resend works", async () => {
  const customer = await newCustomer("fail");
  const callId = await customer.begin();
  await vi.waitFor(async () => {
    // The longest step with its jitter.
    await advance(1.2 * DAY_SECONDS);
    expect(customer.hits().length).toBeGreaterThanOrEqual(10);
  }, ASK);
  const records = await customer.history(callId, 10);
  await advance(2 * DAY_SECONDS);
  expect(records.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(records.map((record) => record["nextAttemptAt"] === null)).toEqual([
    ...Array(9).fill(false),
    true,
  ]);
  const webhook = new Webhook(customer.webhookSecret);
  for (const { body, headers } of customer.hits()) webhook.verify(body, headers);
  expect(new Set(customer.hits().map(({ headers }) => headers["webhook-id"])).size).toBe(1);

  const resent = await customer.call("POST", `/v1/webhooks/history/${records[0]?.["id"]}/resend`);
  expect(resent.status).toBe(202);
  await vi.waitFor(() => expect(customer.hits()).toHaveLength(11), WAIT);
  const last = customer.hits()[10];
  webhook.verify(last?.body ?? "", last?.headers ?? {});
  expect(last?.headers["x-service-delivery"]).toBe(resent.body.data.deliveryId);
});

test("while the database is down nothing is lost: the queue brings it again", async () => {
  const customer = await newCustomer("ok");
  const fault = { target: "neon", mode: "drop", count: 1_000, match: ["outbox", "lease_until"] };
  await control("POST", "/faults", fault);
  const callIds = [await customer.begin(), await customer.begin(), await customer.begin()];
  await delay(2_000);
  expect(customer.hits()).toEqual([]);
  await control("DELETE", "/faults");
  await vi.waitFor(async () => {
    await advance(15);
    expect(customer.hits()).toHaveLength(callIds.length);
  }, WAIT);
  for (const callId of callIds) {
    const records = await customer.history(callId, 1);
    expect(records).toMatchObject([{ attempt: 1, outcome: "Webhook Received" }]);
  }
});

test("while the queue is down calls go on, and the sweeper publishes what it did not take", async () => {
  const customer = await newCustomer("ok");
  await control("POST", "/faults", { target: "qstash", mode: "drop", count: 1_000, path: "/v2/" });
  const callIds = [await customer.begin(), await customer.begin(), await customer.begin()];
  await delay(OVERDUE_MS);
  expect(customer.hits()).toEqual([]);
  await control("DELETE", "/faults");
  await vi.waitFor(async () => {
    await advance(60);
    expect(customer.hits()).toHaveLength(callIds.length);
  }, WAIT);
  const ids = customer.hits().map(({ body }) => JSON.parse(body).data.callId);
  expect(ids.sort()).toEqual(callIds.sort());
});

// After the others: the clock does not move on while a receiver hangs.
test("whatever a receiver does, each attempt ends in time and on record, and delays nobody else's", async () => {
  const [ok, hang, drip, huge, bomb, redirect, reset, tls] = await Promise.all([
    newCustomer("ok"),
    newCustomer("hang"),
    newCustomer("drip"),
    newCustomer("huge"),
    newCustomer("bomb"),
    newCustomer("redirect"),
    newCustomer("reset"),
    newCustomer("tls", tlsOrigin()),
  ]);
  const first = async (customer: typeof ok) => {
    const [record] = await customer.history(await customer.begin(), 1);
    return record;
  };
  const slow = [first(hang), first(drip)];
  expect(await first(ok)).toMatchObject({ outcome: "Webhook Received", response_body: "thanks" });
  for (const record of [await first(huge), await first(bomb)]) {
    expect(record).toMatchObject({ outcome: "Webhook Received", response_code: 200 });
    expect(String(record?.["response_body"])).toHaveLength(65_536);
  }
  expect(await first(redirect)).toMatchObject({ outcome: "Webhook Failed", response_code: 302 });
  for (const record of [await first(reset), await first(tls)]) {
    expect(record).toMatchObject({ response_code: 0, error: "connection_failed" });
  }
  for (const record of await Promise.all(slow)) {
    expect(record).toMatchObject({ response_code: 0, error: "timeout", attempt: 1 });
    expect(record?.["request_duration"]).toBeGreaterThanOrEqual(9_900);
    expect(record?.["request_duration"]).toBeLessThan(11_000);
  }
});

test("a Worker killed between commit and publish, and between request and record, loses nothing", async () => {
  const [unpublished, unrecorded] = [await newCustomer("ok"), await newCustomer("hang")];
  const cutOff = await unrecorded.begin();
  await vi.waitFor(() => expect(unrecorded.hits()).toHaveLength(1), WAIT);
  await control("POST", "/faults", { target: "qstash", mode: "hang", count: 1_000, path: "/v2/" });
  const committed = await unpublished.begin();
  await stack.kill();
  await start();

  await delay(OVERDUE_MS);
  await vi.waitFor(async () => {
    await advance(60);
    expect(unpublished.hits()).toHaveLength(1);
  }, WAIT);
  expect(JSON.parse(unpublished.hits()[0]?.body ?? "").data.callId).toBe(committed);

  await delay(LEASE_MS - OVERDUE_MS);
  await vi.waitFor(async () => {
    await advance(60);
    expect(unrecorded.hits().length).toBeGreaterThanOrEqual(2);
  }, WAIT);
  const records = await unrecorded.history(cutOff, 2);
  expect(records[0]).toMatchObject({ attempt: 1, outcome: "Webhook Failed", error: "lost" });
  expect(records[1]).toMatchObject({ attempt: 2, error: "timeout" });
  expect(unpublished.hits()).toHaveLength(1);
}, 240_000);
