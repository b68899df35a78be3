import { and, eq, sql } from "drizzle-orm";
import { expect, test, vi } from "vitest";
import {
  attempts,
  calls,
  deliveries,
  events,
  idempotencyKeys,
  marks,
  outbox,
} from "../../../src/db/schema/index.ts";
import { outboxWarnings, queueStatus } from "../../../src/outbox/status.ts";
import { sweep } from "../../../src/outbox/sweep.ts";
import type { QueueMessage } from "../../../src/ports/queue.ts";
import { newAgent, newCall } from "../../support/worker/call.ts";
import { request, systemDoor, tenantOf } from "../../support/worker/client.ts";
import { deliverTask, queueSignature } from "../../support/worker/queue.ts";
import { newCustomer, newInbox } from "../../support/worker/webhooks.ts";

type Customer = Awaited<ReturnType<typeof newCustomer>>;

/** Sweeps everything there is, and gives what was published of one organization. */
async function sweepFor(organizationId: string): Promise<QueueMessage[]> {
  const published: QueueMessage[] = [];
  await sweep({
    system: systemDoor,
    queue: { publish: async (messages) => void published.push(...messages) },
    session: () => ({ end: async () => false }) as never,
    now: Date.now(),
    longestCallSeconds: 4_200,
  });
  return published.filter(({ body }) => body.org === organizationId);
}

async function backdate({ db, organizationId }: Customer, fields: object) {
  await db.write((q) => [q.update(outbox).set(fields).where(eq(outbox.orgId, organizationId))]);
}
const ago = (interval: string) => sql`now() - ${interval}::interval`;

test("what was never published is published, and then delivered once", async () => {
  const customer = await newCustomer();
  await customer.happened();
  expect(await sweepFor(customer.organizationId)).toEqual([]);
  await backdate(customer, { dueAt: ago("1 minute") });
  const [message, ...more] = await sweepFor(customer.organizationId);
  expect(more).toEqual([]);
  expect(message).toMatchObject({ task: "deliver-webhook", body: { gen: 2 }, delaySeconds: 0 });
  await customer.deliverAll();
  expect(await customer.inbox.received()).toHaveLength(1);
  expect(await sweepFor(customer.organizationId)).toEqual([]);
});

test("a lease that runs is left alone; one that ran out is taken up again", async () => {
  const customer = await newCustomer();
  await customer.happened();
  await backdate(customer, {
    dueAt: ago("1 minute"),
    leaseUntil: sql`now() + interval '1 minute'`,
  });
  expect(await sweepFor(customer.organizationId)).toEqual([]);
  await backdate(customer, { leaseUntil: ago("1 second") });
  expect(await sweepFor(customer.organizationId)).toHaveLength(1);
});

test("more than the queue takes at once is published in one sweep, each row once", async () => {
  const customer = await newCustomer();
  await customer.db.write((q) => [
    q.execute(sql`
      insert into ${outbox} (org_id, id, task, subject_id, gen, due_at, created_at)
      select ${customer.organizationId}, 'obx_many_' || n, 'deliver-webhook', 'whd_none', 1,
        now() - interval '1 hour', now()
      from generate_series(1, 250) n`),
  ]);
  const published = await sweepFor(customer.organizationId);
  expect(new Set(published.map(({ body }) => body.id)).size).toBe(250);
  expect(published).toHaveLength(250);
  await backdate(customer, { doneAt: sql`now()` });
});

test("an attempt that nobody finished is closed as lost, and counted", async () => {
  const customer = await newCustomer();
  const { event } = await customer.happened();
  const [delivery] = await customer.deliveries();
  const pending = (id: string, attempt: number, createdAt: Date) => ({
    orgId: customer.organizationId,
    id,
    deliveryId: delivery?.id ?? "",
    eventId: event.id,
    attempt,
    type: "developer_callback",
    url: customer.inbox.url,
    outcome: "pending" as const,
    responseCode: 0,
    responseBody: "",
    requestDuration: 0,
    createdAt,
  });
  await customer.db.write((q) => [
    q
      .insert(attempts)
      .values([
        pending("wha_old", 1, new Date(Date.now() - 200_000)),
        pending("wha_new", 2, new Date()),
      ]),
  ]);
  await sweepFor(customer.organizationId);
  expect(await customer.attempts()).toMatchObject([
    { id: "wha_old", outcome: "failed", error: "lost" },
    { id: "wha_new", outcome: "pending" },
  ]);
  const { body } = await request("GET", "/v1/webhooks/history", { key: customer.apiKey });
  expect([body.meta.totalCount, body.data.items.length]).toEqual([1, 1]);
});

test("a call that is open for longer than any may be fails, with its event", async () => {
  const inbox = newInbox();
  const { key, agentId, organizationId } = await newAgent({}, inbox.url);
  const db = tenantOf(organizationId);
  const [dead, live] = [await newCall(key, agentId), await newCall(key, agentId)];
  await db.write((q) => [
    q
      .update(calls)
      .set({ createdAt: ago("2 hours"), status: 2 })
      .where(and(eq(calls.orgId, organizationId), eq(calls.id, dead.callId))),
  ]);
  const published = await sweepFor(organizationId);
  expect(published).toHaveLength(1);
  const state = async (id: string) => (await request("GET", `/v1/calls/${id}`, { key })).body.data;
  expect(await state(dead.callId)).toMatchObject({ status: 4, endReason: "error" });
  expect(await state(live.callId)).toMatchObject({ status: 0 });
  const [message] = published;
  await deliverTask(organizationId, { task: "deliver-webhook", ...message?.body } as never);
  await vi.waitFor(async () => {
    const [receipt] = await inbox.received();
    expect(JSON.parse(receipt?.body ?? "{}")).toMatchObject({
      type: "call.failed",
      data: { callId: dead.callId, status: 4, endReason: "error" },
    });
  });
  expect(await sweepFor(organizationId)).toEqual([]);
});

test("texts are kept for 30 days, idempotency for one, done work for seven", async () => {
  const customer = await newCustomer();
  const [old, young] = [await customer.happened(), await customer.happened()];
  await customer.deliverAll();
  const { db, organizationId } = customer;
  const claim = (id: string) => ({
    orgId: organizationId,
    id,
    fingerprint: "f",
    token: "t",
    leaseUntil: new Date(),
    took: true,
    createdAt: sql`now()`,
  });
  await db.write((q) => [
    q
      .update(events)
      .set({ createdAt: ago("31 days") })
      .where(eq(events.id, old.event.id)),
    q
      .update(attempts)
      .set({ createdAt: ago("31 days") })
      .where(eq(attempts.callId, old.callId)),
    q
      .update(outbox)
      .set({ doneAt: ago("8 days") })
      .where(eq(outbox.subjectId, old.event.deliveryId)),
    q.insert(idempotencyKeys).values([
      { ...claim("old"), createdAt: ago("25 hours") },
      { ...claim("young"), createdAt: ago("23 hours") },
    ]),
  ]);
  await sweepFor(organizationId);
  const [bodies, claims, rows] = await db.read((q) => [
    q.select({ id: events.id, body: events.body }).from(events),
    q.select({ id: idempotencyKeys.id }).from(idempotencyKeys),
    q.select({ subjectId: outbox.subjectId }).from(outbox),
  ]);
  expect(bodies.find(({ id }) => id === old.event.id)?.body).toBe("");
  expect(bodies.find(({ id }) => id === young.event.id)?.body).toContain(young.event.id);
  expect(claims).toEqual([{ id: "young" }]);
  expect(rows).toEqual([{ subjectId: young.event.deliveryId }]);
  const responses = (await customer.attempts()).map(({ responseBody }) => responseBody);
  expect(responses).toEqual(["", '{"received":true}']);
});

test("the operator sees how much waits, how late it is and what was given up", async () => {
  const customer = await newCustomer();
  const before = await queueStatus(systemDoor);
  await customer.happened();
  await backdate(customer, { dueAt: ago("3 hours") });
  await customer.happened("call.failed");
  await customer.db.write((q) => [
    q
      .update(deliveries)
      .set({ state: "dead" })
      .where(eq(deliveries.orgId, customer.organizationId)),
  ]);
  const status = await queueStatus(systemDoor);
  expect(status.depth).toBeGreaterThanOrEqual(2);
  expect(status.dead).toBeGreaterThanOrEqual(before.dead + 2);
  expect(status.oldestDueSeconds).toBeGreaterThanOrEqual(3 * 3_600);
  await sweepFor(customer.organizationId);
  const { lastSweepAt } = await queueStatus(systemDoor);
  expect(Date.now() - Date.parse(lastSweepAt ?? "")).toBeLessThan(60_000);

  expect(await outboxWarnings(systemDoor, "* * * * *")).toContainEqual(
    expect.stringMatching(/^The oldest work is 180 minutes late$/),
  );
  await backdate(customer, { doneAt: sql`now()` });
});

test("a monitor is told when no sweep came for three periods", async () => {
  const sweptAgo = (interval: string) =>
    systemDoor.run((q) => [q.update(marks).set({ at: ago(interval) })]);
  await sweepFor("org_none");
  await sweptAgo("14 minutes");
  const unswept = expect.stringMatching(/^No sweep for 14 minutes$/);
  expect(await outboxWarnings(systemDoor, "*/5 * * * *")).not.toContainEqual(unswept);
  expect(await outboxWarnings(systemDoor, "* * * * *")).toContainEqual(unswept);
  const health = await request("GET", "/healthz");
  expect([health.status, health.body.warnings]).toEqual([200, expect.arrayContaining([unswept])]);
});

test("the queue's own call sweeps", async () => {
  const path = "/internal/q/sweep";
  const signature = await queueSignature(path, "");
  const answer = await request("POST", path, { headers: { "Upstash-Signature": signature } });
  expect(answer.status).toBe(200);
});
