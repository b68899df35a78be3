import { eq, sql } from "drizzle-orm";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { endpoints, outbox } from "../../../src/db/schema/index.ts";
import { newAgent, newCall } from "../../support/worker/call.ts";
import { request, tenantOf } from "../../support/worker/client.ts";
import { deliverTask } from "../../support/worker/queue.ts";
import { newCustomer, newInbox, type Scripted } from "../../support/worker/webhooks.ts";

type Customer = Awaited<ReturnType<typeof newCustomer>>;

async function newEndpoint(customer: Customer, json: object = {}) {
  const inbox = newInbox();
  const answer = await request("POST", "/v1/webhooks", {
    key: customer.apiKey,
    json: { url: inbox.url, ...json },
  });
  expect(answer.status).toBe(201);
  const { id, webhookSecret } = answer.body.data as { id: string; webhookSecret: string };
  const types = async () =>
    (await inbox.received()).map(({ headers }) => headers["x-service-event"]).sort();
  return { inbox, id, webhookSecret, types, view: answer.body.data };
}

const list = async ({ apiKey }: Customer) =>
  (await request("GET", "/v1/webhooks", { key: apiKey })).body.data;

test("an endpoint is shown with its secret once, and without it afterwards", async () => {
  const customer = await newCustomer({ callback: false });
  const { view, id } = await newEndpoint(customer, { description: "All of it" });
  expect(view).toMatchObject({
    id: expect.stringMatching(/^wep_[0-9A-HJKMNP-TV-Z]{26}$/),
    webhookSecret: expect.stringMatching(/^whsec_/),
    events: null,
    description: "All of it",
    status: "enabled",
  });
  const { webhookSecret: _, ...rest } = view;
  expect(await list(customer)).toEqual([rest]);
  const deleted = await request("DELETE", `/v1/webhooks/${id}`, { key: customer.apiKey });
  expect([deleted.status, await list(customer)]).toEqual([200, []]);
});

test("endpoints get the events they ask for, signed with their own secrets, beside the callback", async () => {
  const customer = await newCustomer();
  const all = await newEndpoint(customer);
  const some = await newEndpoint(customer, { events: ["call.failed", "call.analyzed"] });
  for (const type of ["call.completed", "call.failed", "call.analyzed"] as const) {
    await customer.happened(type);
  }
  await customer.deliverAll();
  expect(await all.types()).toEqual(["call.analyzed", "call.completed", "call.failed"]);
  expect(await some.types()).toEqual(["call.analyzed", "call.failed"]);
  const callback = await customer.inbox.received();
  expect(callback.map(({ headers }) => headers["x-service-event"]).sort()).toEqual([
    "call.completed",
    "call.failed",
  ]);
  for (const { inbox, webhookSecret } of [all, some]) {
    for (const { body, headers } of await inbox.received()) {
      new Webhook(webhookSecret).verify(body, headers);
      expect(() => new Webhook(customer.webhookSecret).verify(body, headers)).toThrow();
    }
  }
});

test("without a callback endpoints get the events all the same", async () => {
  const customer = await newCustomer({ callback: false });
  const { types } = await newEndpoint(customer);
  await customer.happened();
  await customer.deliverAll();
  expect(await types()).toEqual(["call.completed"]);
  const { body } = await request("GET", "/v1/webhooks/history?type=endpoint", {
    key: customer.apiKey,
  });
  expect(body.data).toMatchObject({ totalCount: 1, items: [{ type: "endpoint" }] });
});

test("410 disables an endpoint at once, and the list says so", async () => {
  const customer = await newCustomer({ callback: false });
  const { inbox, types } = await newEndpoint(customer);
  await inbox.answers({ status: 410 });
  await customer.happened();
  await customer.deliverAll();
  await customer.happened("call.failed");
  await customer.deliverAll();
  expect(await types()).toEqual(["call.completed"]);
  expect(await customer.deliveries()).toMatchObject([{ state: "dead" }]);
  expect(await list(customer)).toMatchObject([
    { status: "disabled", disabledReason: "gone", disabledAt: expect.any(String) },
  ]);
});

test("410 is only a failure of a key's callback", async () => {
  const customer = await newCustomer();
  await customer.inbox.answers({ status: 410 });
  await customer.happened();
  await customer.deliverAll();
  await customer.deliverAll();
  expect(await customer.deliveries()).toMatchObject([{ state: "delivered", attempts: 2 }]);
});

test("five days of nothing but failure disable an endpoint; a success in between does not", async () => {
  const customer = await newCustomer({ callback: false });
  const fail: Scripted = { status: 500 };
  const [failing, recovering] = [await newEndpoint(customer), await newEndpoint(customer)];
  await failing.inbox.answers(fail, fail);
  await recovering.inbox.answers(fail);
  const backdate = () =>
    customer.db.write((q) => [
      q
        .update(endpoints)
        .set({ failingSince: sql`failing_since - interval '121 hours'` })
        .where(eq(endpoints.orgId, customer.organizationId)),
    ]);
  await customer.happened();
  await customer.deliverAll();
  await backdate();
  await customer.deliverAll();
  const states = async () =>
    Object.fromEntries(
      (await list(customer)).map((e: { id: string; disabledReason: unknown }) => [
        e.id,
        e.disabledReason,
      ]),
    );
  expect(await states()).toEqual({ [failing.id]: "failing", [recovering.id]: null });
  await recovering.inbox.answers(fail);
  await customer.happened("call.failed");
  await customer.deliverAll();
  expect(await states()).toEqual({ [failing.id]: "failing", [recovering.id]: null });
});

test("what was on its way to a deleted endpoint is not attempted", async () => {
  const customer = await newCustomer({ callback: false });
  const { id, types } = await newEndpoint(customer);
  await customer.happened();
  await request("DELETE", `/v1/webhooks/${id}`, { key: customer.apiKey });
  await customer.deliverAll();
  expect([await types(), await customer.attempts()]).toEqual([[], []]);
  expect(await customer.deliveries()).toMatchObject([{ state: "dead" }]);
});

test("a test event goes to its endpoint alone, whatever it asks for, also when it is disabled", async () => {
  const customer = await newCustomer();
  const [tested, other] = [
    await newEndpoint(customer, { events: ["call.failed"] }),
    await newEndpoint(customer),
  ];
  await tested.inbox.answers({ status: 410 });
  const send = () => request("POST", `/v1/webhooks/${tested.id}/test`, { key: customer.apiKey });
  expect((await send()).status).toBe(202);
  await customer.deliverAll();
  expect(await list(customer)).toMatchObject([{}, { id: tested.id, status: "disabled" }]);
  const again = await send();
  await customer.deliverAll();
  const receipts = await tested.inbox.received();
  expect(receipts[1]?.headers["webhook-id"]).toBe(again.body.data.eventId);
  expect(JSON.parse(receipts[1]?.body ?? "")).toMatchObject({
    type: "webhook.test",
    data: { endpointId: tested.id },
  });
  expect([await other.types(), await customer.inbox.received()]).toEqual([[], []]);
});

test("an organization has at most a hundred endpoints, however many are asked for at once", async () => {
  const customer = await newCustomer();
  await customer.db.write((q) => [
    q.execute(sql`
      insert into ${endpoints} (org_id, id, url, webhook_secret, created_at)
      select ${customer.organizationId}, 'wep_' || n, 'https://example.com/', '', now()
      from generate_series(1, 98) n`),
  ]);
  const json = { url: "https://example.com/hook" };
  const answers = await Promise.all(
    Array.from({ length: 5 }, () =>
      request("POST", "/v1/webhooks", { key: customer.apiKey, json }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 400, 400, 400]);
  expect(answers.find(({ status }) => status === 400)?.body.error.code).toBe("limit_reached");
});

test("an endpoint's URL passes the same guard as a callback, and its events must be known", async () => {
  const { apiKey } = await newCustomer();
  for (const json of [
    {},
    { url: "http://example.com/" },
    { url: "https://127.0.0.1/" },
    { url: "https://example.com/", events: ["call.unknown"] },
    { url: "https://example.com/", events: [] },
  ]) {
    const answer = await request("POST", "/v1/webhooks", { key: apiKey, json });
    expect([json, answer.status]).toEqual([json, 400]);
  }
});

test("an endpoint is told when a call's analysis is there, with the analysis", async () => {
  const inbox = newInbox();
  const { key, agentId, organizationId } = await newAgent();
  await request("POST", "/v1/webhooks", {
    key,
    json: { url: inbox.url, events: ["call.analyzed"] },
  });
  const { callId } = await newCall(key, agentId);
  await request("POST", `/v1/calls/${callId}/end`, { key });
  const deliverOpen = async (task: string) => {
    const [rows] = await tenantOf(organizationId).read((q) => [
      q.select().from(outbox).where(eq(outbox.task, task)),
    ]);
    for (const row of rows) expect(await deliverTask(organizationId, row)).toBe(200);
    return rows.length;
  };
  expect(await deliverOpen("deliver-webhook")).toBe(0);
  expect(await deliverOpen("analyze-call")).toBe(1);
  expect(await deliverOpen("deliver-webhook")).toBe(1);
  const [receipt] = await inbox.received();
  const analysis = await request("GET", `/v1/calls/${callId}/analysis`, { key });
  expect(JSON.parse(receipt?.body ?? "{}")).toMatchObject({
    type: "call.analyzed",
    data: { callId, analysis: analysis.body.data },
  });
});
