import { eq } from "drizzle-orm";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { events } from "../../../src/db/schema/index.ts";
import { newOrganization, request } from "../../support/worker/client.ts";
import { newCustomer } from "../../support/worker/webhooks.ts";

type Customer = Awaited<ReturnType<typeof newCustomer>>;

async function list(customer: Customer, query: string) {
  const { status, body } = await request("GET", `/v1/webhooks/history?${query}`, {
    key: customer.apiKey,
  });
  expect(status).toBe(200);
  expect(body.data).toMatchObject(body.meta);
  return { items: body.data.items as Record<string, unknown>[], total: body.meta.totalCount };
}

test("the list can be narrowed by type, outcome, time and call, and its count with it", async () => {
  const customer = await newCustomer();
  await customer.inbox.answers({ status: 500 });
  const failed = await customer.happened("call.failed");
  await customer.deliverAll();
  const received = await customer.happened("call.completed");
  await customer.deliverAll();

  const both = await list(customer, "");
  expect(both).toMatchObject({ total: 3 });
  const events = async (query: string) => {
    const { items, total } = await list(customer, query);
    expect(total).toBe(items.length);
    return items.map((item) => `${item["event"]} ${item["attempt"]}`);
  };
  // The failed one was brought again beside the second event, and received.
  expect(await events("outcome=failed")).toEqual(["call.failed 1"]);
  expect((await events("outcome=received")).sort()).toEqual(["call.completed 1", "call.failed 2"]);
  expect(await events(`callId=${received.callId}`)).toEqual(["call.completed 1"]);
  expect(await events(`callId=${failed.callId}&outcome=failed`)).toEqual(["call.failed 1"]);
  expect(await events("type=endpoint")).toEqual([]);
  expect(await events("type=developer_callback")).toHaveLength(3);

  const today = new Date().toISOString().slice(0, 10);
  const hourAgo = encodeURIComponent(new Date(Date.now() - 3_600_000).toISOString());
  const inAnHour = encodeURIComponent(new Date(Date.now() + 3_600_000).toISOString());
  expect(await events(`startDate=${today}&endDate=${today}`)).toHaveLength(3);
  expect(await events(`startDate=${hourAgo}`)).toHaveLength(3);
  expect(await events(`startDate=${hourAgo}&endDate=${inAnHour}`)).toHaveLength(3);
  expect(await events(`endDate=${hourAgo}`)).toEqual([]);
  expect(await events(`startDate=${inAnHour}`)).toEqual([]);
  expect(await events("startDate=2020-01-01&endDate=2020-12-31")).toEqual([]);
  expect(await events("startDate=9999-12-31")).toEqual([]);
  expect(await events("endDate=9999-12-31")).toHaveLength(3);
});

test("a filter that is none is 400", async () => {
  const { apiKey } = await newOrganization();
  for (const query of [
    "outcome=ok",
    "type=callback",
    "startDate=yesterday",
    "endDate=2026-13-01",
  ]) {
    const answer = await request("GET", `/v1/webhooks/history?${query}`, { key: apiKey });
    expect([query, answer.status]).toEqual([query, 400]);
  }
});

test("a record says when the next attempt comes, until there is none", async () => {
  const customer = await newCustomer();
  await customer.inbox.answers({ status: 503, headers: { "Retry-After": "120" } });
  await customer.happened();
  await customer.deliverAll();
  await customer.deliverAll();
  const { items } = await list(customer, "");
  const details = await Promise.all(
    items.map(({ id }) => request("GET", `/v1/webhooks/history/${id}`, { key: customer.apiKey })),
  );
  const [second, first] = details.map(({ body }) => body.data);
  expect(second).toMatchObject({ attempt: 2, outcome: "Webhook Received", nextAttemptAt: null });
  const wait = Date.parse(first.nextAttemptAt) - Date.parse(first.createdAt);
  expect(wait).toBeGreaterThanOrEqual(119_000);
  expect(wait).toBeLessThan(150_000);
});

test("odd key order and every script are signed, stored and read back as the same text", async () => {
  const customer = await newCustomer();
  const data = {
    z: 1,
    "10": "ten",
    a: { ω: "Ωμέγα", "2": null },
    text: "नमस्ते 你好 שלום 🦜 é\u2028 \\u0041",
  };
  const { event } = await customer.happened("call.completed", data);
  await customer.deliverAll();
  const [receipt] = await customer.inbox.received();
  const verified = new Webhook(customer.webhookSecret).verify(
    receipt?.body ?? "",
    receipt?.headers ?? {},
  );
  expect(verified).toMatchObject({ id: event.id, data });
  const { items } = await list(customer, "");
  const { body } = await request("GET", `/v1/webhooks/history/${items[0]?.["id"]}`, {
    key: customer.apiKey,
  });
  expect(body.data.request_body_raw).toBe(receipt?.body);
  expect(body.data.request_body).toEqual(JSON.parse(receipt?.body ?? ""));
});

test("a record can be sent again, to the same place, as a delivery of its own", async () => {
  const customer = await newCustomer();
  const { event } = await customer.happened();
  await customer.deliverAll();
  const [{ id } = { id: "" }] = await customer.attempts();
  const path = `/v1/webhooks/history/${id}/resend`;
  const answer = await request("POST", path, { key: customer.apiKey });
  expect([answer.status, answer.body.data.eventId]).toEqual([202, event.id]);
  await customer.deliverAll();
  const receipts = await customer.inbox.received();
  expect(receipts.map(({ headers }) => headers["webhook-id"])).toEqual([event.id, event.id]);
  expect(receipts[1]?.headers["x-service-delivery"]).toBe(answer.body.data.deliveryId);
  new Webhook(customer.webhookSecret).verify(receipts[1]?.body ?? "", receipts[1]?.headers ?? {});
  expect((await customer.attempts()).map(({ attempt }) => attempt)).toEqual([1, 1]);
});

test("an event whose text is no longer kept is still on record, and cannot be sent again", async () => {
  const customer = await newCustomer();
  await customer.happened();
  await customer.deliverAll();
  await customer.db.write((q) => [
    q.update(events).set({ body: "" }).where(eq(events.orgId, customer.organizationId)),
  ]);
  const [{ id } = { id: "" }] = await customer.attempts();
  const key = customer.apiKey;
  const detail = await request("GET", `/v1/webhooks/history/${id}`, { key });
  expect(detail.body.data).toMatchObject({ request_body: null, request_body_raw: "" });
  expect((await request("POST", `/v1/webhooks/history/${id}/resend`, { key })).status).toBe(404);
});
