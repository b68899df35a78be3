import { evictDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { closeOrganization } from "../../../src/operator/close-organization.ts";
import type { QueueMessage } from "../../../src/ports/queue.ts";
import { newOrganization, request, systemDoor } from "../../support/worker/client.ts";
import { deliver } from "./queue-message.ts";
import { change, createKey, gateOf, knock } from "./support.ts";

/** Closes the organization, and hands over what the operator published. */
async function close(organizationId: string): Promise<QueueMessage[]> {
  const published: QueueMessage[] = [];
  const queue = {
    publish: async (messages: readonly QueueMessage[]) => void published.push(...messages),
  };
  const operator = { system: systemDoor, queue, now: Date.now() };
  expect(await closeOrganization(operator, organizationId)).toBe(true);
  return published;
}

test("once its gate was told, every key of a closed organization answers 404", async () => {
  const [closed, other] = await Promise.all([newOrganization(), newOrganization()]);
  const second = await createKey(closed.apiKey);
  const dead = await createKey(closed.apiKey);
  await change(closed.apiKey, dead.id, "revoke");
  for (const message of await close(closed.organizationId))
    expect(await deliver(message)).toBe(200);

  for (const key of [closed.apiKey, second.key]) {
    const refused = await request("POST", "/v1/auth/keys", { key, json: {} });
    expect([refused.status, refused.body.error.code]).toEqual([404, "organization_not_found"]);
  }
  expect((await knock(dead.key)).status).toBe(401);
  expect((await knock(other.apiKey)).status).toBe(200);
});

test("a closed organization stays closed over an eviction, and closing it again changes nothing", async () => {
  const { apiKey, organizationId } = await newOrganization();
  await knock(apiKey);
  const messages = [...(await close(organizationId)), ...(await close(organizationId))];
  for (const message of messages) await deliver(message);
  await evictDurableObject(gateOf(apiKey));
  expect((await knock(apiKey)).status).toBe(404);
});

test("an organization closed before its first request is known as closed", async () => {
  const { apiKey, organizationId } = await newOrganization();
  await close(organizationId);
  expect((await knock(apiKey)).status).toBe(404);
});

test("when the queue takes nothing the organization is closed all the same", async () => {
  const { apiKey, organizationId } = await newOrganization();
  const queue = { publish: () => Promise.reject(new Error("down")) };
  const operator = { system: systemDoor, queue, now: Date.now() };
  expect(await closeOrganization(operator, organizationId)).toBe(true);
  expect((await knock(apiKey)).status).toBe(404);
});

test("an organization that is not there cannot be closed", async () => {
  const queue = { publish: () => Promise.reject(new Error("nothing to publish")) };
  const operator = { system: systemDoor, queue, now: Date.now() };
  expect(await closeOrganization(operator, "org_unknown")).toBe(false);
});
