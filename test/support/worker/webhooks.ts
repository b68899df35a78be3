import { asc, eq } from "drizzle-orm";
import { apiKeys, attempts, deliveries, outbox } from "../../../src/db/schema/index.ts";
import {
  dueOf,
  type EventType,
  newEvent,
  recordEvent,
} from "../../../src/resources/webhooks/events.ts";
import { newOrganization, tenantOf, worldUrl } from "./client.ts";
import { deliverTask } from "./queue.ts";

export type Receipt = { body: string; headers: Record<string, string>; at: string };
export type Scripted = {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  delayMs?: number;
  mode?: "hang" | "reset" | "drip";
};

let inboxes = 0;

/** An inbox of the world that nobody else uses. */
export function newInbox() {
  inboxes += 1;
  const name = `inbox-${inboxes}-${crypto.randomUUID()}`;
  return {
    url: `${worldUrl}/inbox/${name}`,
    async answers(...responses: Scripted[]) {
      const body = JSON.stringify({ responses });
      const answer = await fetch(`${worldUrl}/inbox/${name}/script`, { method: "PUT", body });
      if (answer.status !== 200) throw new Error(await answer.text());
      await answer.body?.cancel();
    },
    async received(): Promise<Receipt[]> {
      return (await fetch(`${worldUrl}/received?kind=inbox&name=${name}`)).json();
    },
  };
}

/** An organization whose first key has a callback, or none. */
export async function newCustomer({ callback = true } = {}) {
  const inbox = newInbox();
  const first = await newOrganization(callback ? inbox.url : undefined);
  const { organizationId } = first;
  const db = tenantOf(organizationId);
  const [[key]] = await db.read((q) => [q.select({ id: apiKeys.id }).from(apiKeys)]);
  const keyId = key?.id ?? "";
  return {
    ...first,
    inbox,
    keyId,
    db,
    /** Records an event as its cause does; nothing is published, nobody delivers it yet. */
    async happened(type: EventType = "call.completed", data: Record<string, unknown> = {}) {
      const now = Date.now();
      const callId = `call_${crypto.randomUUID()}`;
      const event = newEvent(type, { callId, keyId }, data, now);
      const results = await db.write((q) => [...recordEvent(q, organizationId, event)]);
      const due = dueOf(results[3] as Parameters<typeof dueOf>[0]);
      return { event, callId, due };
    },
    outbox: async () => {
      const [rows] = await db.read((q) => [q.select().from(outbox).orderBy(asc(outbox.id))]);
      return rows;
    },
    attempts: async () => {
      const [rows] = await db.read((q) => [
        q.select().from(attempts).orderBy(asc(attempts.createdAt), asc(attempts.attempt)),
      ]);
      return rows;
    },
    deliveries: async () => {
      const [rows] = await db.read((q) => [
        q.select().from(deliveries).orderBy(asc(deliveries.createdAt), asc(deliveries.id)),
      ]);
      return rows;
    },
    /** Brings the newest message of every row that is not done, as if its time had come. */
    async deliverAll(): Promise<number[]> {
      const [rows] = await db.read((q) => [
        q.select().from(outbox).where(eq(outbox.task, "deliver-webhook")),
      ]);
      const open = rows.filter(({ doneAt }) => doneAt === null);
      return Promise.all(open.map((row) => deliverTask(organizationId, row)));
    },
  };
}
