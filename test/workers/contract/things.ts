import { analyses, attempts, deliveries, events } from "../../../src/db/schema/index.ts";
import { newId } from "../../../src/ids.ts";
import { agentInput } from "../../support/agent-input.ts";
import { newOrganization, request, tenantOf } from "../../support/worker/client.ts";
import { fetchService } from "./endpoints.ts";

/** One of each kind that endpoints take the id of. A new resource is a line here. */
export type Things = {
  key: string;
  agent: string;
  call: string;
  attempt: string;
  endpoint: string;
};

export type Owner = { apiKey: string; organizationId: string; things: Things };

/** A new organization that owns one of everything. */
export async function ownerOfEverything(): Promise<Owner> {
  const { apiKey, organizationId } = await newOrganization();
  const key = await request("POST", "/v1/auth/keys", { key: apiKey, json: {} });
  const agent = await request("POST", "/v1/agents", {
    key: apiKey,
    json: agentInput,
  });
  const assistantId: string = agent.body.data.id;
  const call = await fetchService("POST", "/v1/calls/initiate", {
    key: apiKey,
    json: { assistantId, type: "web" },
  });
  const endpoint = await request("POST", "/v1/webhooks", {
    key: apiKey,
    json: { url: "https://example.com/endpoint" },
  });
  await tenantOf(organizationId).write((q) => [
    q.insert(analyses).values({
      orgId: organizationId,
      callId: call.body.callId,
      summary: "Said hello.",
      sentiment: "neutral",
      tags: ["hello"],
      createdAt: new Date(),
    }),
  ]);
  return {
    apiKey,
    organizationId,
    things: {
      key: key.body.data.id,
      agent: assistantId,
      call: call.body.callId,
      attempt: await recordAttempt(organizationId, key.body.data.id),
      endpoint: endpoint.body.data.id,
    },
  };
}

/** Written directly: a real one needs a receiver and time. */
async function recordAttempt(orgId: string, keyId: string): Promise<string> {
  const now = Date.now();
  const createdAt = new Date(now);
  const [eventId, deliveryId, id] = [newId("evt", now), newId("whd", now), newId("wha", now)];
  const url = "https://example.com/hook";
  const type = "developer_callback" as const;
  const body = JSON.stringify({ id: eventId, type: "call.initiated", data: {} });
  await tenantOf(orgId).write((q) => [
    q.insert(events).values({ orgId, id: eventId, type: "call.initiated", body, createdAt }),
    q.insert(deliveries).values({
      orgId,
      id: deliveryId,
      eventId,
      type,
      url,
      keyId,
      state: "delivered",
      attempts: 1,
      createdAt,
    }),
    q.insert(attempts).values({
      orgId,
      id,
      deliveryId,
      eventId,
      attempt: 1,
      type,
      url,
      outcome: "received",
      responseCode: 200,
      responseBody: "",
      requestDuration: 12,
      createdAt,
    }),
  ]);
  return id;
}
