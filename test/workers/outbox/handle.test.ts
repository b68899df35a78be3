import { and, eq, sql } from "drizzle-orm";
import { expect, test, vi } from "vitest";
import { attempts, deliveries, outbox } from "../../../src/db/schema/index.ts";
import { worldUrl } from "../../support/worker/client.ts";
import { deliverTask } from "../../support/worker/queue.ts";
import { newCustomer } from "../../support/worker/webhooks.ts";
import { cutNeon } from "../keys/support.ts";

type Customer = Awaited<ReturnType<typeof newCustomer>>;

async function onlyRow(customer: Customer) {
  const [row] = await customer.outbox();
  if (!row) throw new Error("nothing is due");
  return row;
}

/** As if the Worker that has the lease had died and its time were over. */
async function expireLease({ db, organizationId }: Customer) {
  const past = sql`now() - interval '1 second'`;
  await db.write((q) => [
    q.update(outbox).set({ leaseUntil: past }).where(eq(outbox.orgId, organizationId)),
  ]);
}

test("the same message fifty times in parallel sends once and logs once", async () => {
  const customer = await newCustomer();
  await customer.happened();
  const row = await onlyRow(customer);
  const statuses = await Promise.all(
    Array.from({ length: 50 }, () => deliverTask(customer.organizationId, row)),
  );
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(await customer.inbox.received()).toHaveLength(1);
  expect(await customer.attempts()).toMatchObject([{ attempt: 1, outcome: "received" }]);
});

test("a message of an earlier attempt does not hurry the next one", async () => {
  const customer = await newCustomer();
  await customer.inbox.answers({ status: 500 });
  await customer.happened();
  const first = await onlyRow(customer);
  await deliverTask(customer.organizationId, first);
  await deliverTask(customer.organizationId, first);
  expect(await customer.inbox.received()).toHaveLength(1);
  expect(await onlyRow(customer)).toMatchObject({ gen: 2, doneAt: null, leaseUntil: null });
});

test("a message that waited longer than the sweeper is as good as the one after it", async () => {
  const customer = await newCustomer();
  await customer.happened();
  const first = await onlyRow(customer);
  await customer.db.write((q) => [
    q.update(outbox).set({ gen: 7 }).where(eq(outbox.orgId, customer.organizationId)),
  ]);
  await deliverTask(customer.organizationId, first);
  expect(await customer.inbox.received()).toHaveLength(1);
});

test("an attempt cut off between its request and its record is logged as lost, and made again", async () => {
  const customer = await newCustomer();
  await customer.happened();
  const row = await onlyRow(customer);
  // The settling batch is the only one that ends the outbox row.
  await cutNeon({ when: "before", match: ["done_at", "request_duration", row.id] });
  expect(await deliverTask(customer.organizationId, row)).toBe(503);
  expect(await customer.attempts()).toMatchObject([{ attempt: 1, outcome: "pending" }]);

  expect(await deliverTask(customer.organizationId, row)).toBe(200);
  expect(await customer.inbox.received()).toHaveLength(1);
  await expireLease(customer);
  expect(await deliverTask(customer.organizationId, row)).toBe(200);
  expect(await customer.attempts()).toMatchObject([
    { attempt: 1, outcome: "failed", error: "lost", responseCode: 0 },
    { attempt: 2, outcome: "received", responseCode: 200 },
  ]);
  const ids = (await customer.inbox.received()).map(({ headers }) => headers["webhook-id"]);
  expect(ids).toEqual([ids[0], ids[0]]);
});

test("when the record was made and only the answer is lost, nothing is sent again", async () => {
  const customer = await newCustomer();
  await customer.happened();
  const row = await onlyRow(customer);
  await cutNeon({ when: "after", match: ["done_at", "request_duration", row.id] });
  expect(await deliverTask(customer.organizationId, row)).toBe(503);
  await deliverTask(customer.organizationId, row);
  expect(await customer.inbox.received()).toHaveLength(1);
  expect(await customer.attempts()).toMatchObject([{ outcome: "received" }]);
});

test("work that could not begin gives its lease back: the queue's next try does it", async () => {
  const customer = await newCustomer();
  await customer.happened();
  const row = await onlyRow(customer);
  await cutNeon({ when: "before", match: ["webhook_attempts", row.subjectId] });
  expect(await deliverTask(customer.organizationId, row)).toBe(503);
  expect(await deliverTask(customer.organizationId, row)).toBe(200);
  expect(await customer.attempts()).toMatchObject([{ attempt: 1, outcome: "received" }]);
});

test("a receiver slower than the lease gets a second attempt, and its late 2xx ends the delivery", async () => {
  const customer = await newCustomer();
  await customer.inbox.answers({ delayMs: 1_500 }, { status: 500 });
  await customer.happened();
  const row = await onlyRow(customer);
  const slow = deliverTask(customer.organizationId, row);
  await vi.waitFor(async () => expect(await customer.inbox.received()).toHaveLength(1));
  await expireLease(customer);
  expect(await deliverTask(customer.organizationId, row)).toBe(200);
  expect(await customer.attempts()).toMatchObject([
    { attempt: 1, error: "lost" },
    { attempt: 2, outcome: "failed", responseCode: 500 },
  ]);
  await slow;
  expect(await customer.attempts()).toMatchObject([
    { attempt: 1, outcome: "received", error: null, responseCode: 200 },
    { attempt: 2, outcome: "failed" },
  ]);
  expect(await customer.deliveries()).toMatchObject([{ state: "delivered" }]);
  expect(await onlyRow(customer)).toMatchObject({ gen: 2, doneAt: null });

  await customer.deliverAll();
  expect(await customer.attempts()).toHaveLength(2);
  expect(await customer.inbox.received()).toHaveLength(2);
});

test("a tenth attempt that was cut off is the last all the same", async () => {
  const customer = await newCustomer();
  await customer.happened();
  const row = await onlyRow(customer);
  await customer.db.write((q) => [
    q.update(deliveries).set({ attempts: 9 }).where(eq(deliveries.orgId, customer.organizationId)),
  ]);
  await cutNeon({ when: "before", match: ["done_at", "request_duration", row.id] });
  await deliverTask(customer.organizationId, row);
  await expireLease(customer);
  await deliverTask(customer.organizationId, row);
  expect(await customer.attempts()).toMatchObject([{ attempt: 10, error: "lost" }]);
  expect(await customer.deliveries()).toMatchObject([{ state: "dead", attempts: 10 }]);
  expect(await onlyRow(customer)).toMatchObject({ doneAt: expect.any(Date) });
});

test("a delivery with a logged 2xx is never attempted again, whatever the queue brings", async () => {
  const customer = await newCustomer();
  await customer.happened();
  await customer.deliverAll();
  await customer.db.write((q) => [
    q
      .update(outbox)
      .set({ doneAt: null, leaseUntil: null })
      .where(eq(outbox.orgId, customer.organizationId)),
  ]);
  await customer.deliverAll();
  expect(await customer.inbox.received()).toHaveLength(1);
});

test("when the queue is down the next attempt stands in the outbox, and the message is done", async () => {
  const customer = await newCustomer();
  await customer.inbox.answers({ status: 500 });
  await customer.happened();
  const row = await onlyRow(customer);
  // Two: the client tries once more.
  const fault = { target: "qstash", mode: "drop", count: 2, match: [row.id] };
  await fetch(`${worldUrl}/faults`, { method: "POST", body: JSON.stringify(fault) });
  expect(await deliverTask(customer.organizationId, row)).toBe(200);
  expect(await onlyRow(customer)).toMatchObject({ gen: 2, doneAt: null });
  const [[attempt]] = await customer.db.read((q) => [
    q
      .select()
      .from(attempts)
      .where(and(eq(attempts.orgId, customer.organizationId), eq(attempts.attempt, 1))),
  ]);
  expect(attempt?.nextAttemptAt).toBeInstanceOf(Date);
});

test("the lane is the destination's host within the organization", async () => {
  const customer = await newCustomer();
  const { due } = await customer.happened();
  expect(due).toMatchObject([{ lane: new URL(customer.inbox.url).host }]);
});
