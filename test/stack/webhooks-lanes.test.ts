import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { agentInput } from "../support/agent-input.ts";
import { apiClient } from "../support/node/api.ts";
import { type Receiver, startReceiver } from "../support/node/receiver.ts";
import { type StackProcess, startStackProcess } from "../support/node/stack.ts";

/** How many deliveries to one destination are under way at once. */
const LANE_WIDTH = 5;
const EVENTS = 12;

let dead: Receiver;
let healthy: Receiver;
let stack: StackProcess;

beforeAll(async () => {
  [dead, healthy] = await Promise.all([startReceiver(), startReceiver()]);
  const WEBHOOK_DEV_ORIGINS = `${dead.origin},${healthy.origin}`;
  stack = await startStackProcess({ env: { WEBHOOK_DEV_ORIGINS } });
});
afterAll(async () => {
  await stack.stop();
  await Promise.all([dead.close(), healthy.close()]);
});

test("a destination that hangs holds back its own deliveries only, in the same organization too", async () => {
  const operator = apiClient(stack.ready.baseUrl, stack.ready.apiKey);
  for (const url of [`${dead.origin}/hang`, `${healthy.origin}/ok`]) {
    expect((await operator("POST", "/v1/webhooks", { url })).status).toBe(201);
  }
  const agent = await operator("POST", "/v1/agents", agentInput);
  const json = { assistantId: agent.body.data.id, type: "web" };
  for (let event = 0; event < EVENTS; event++) {
    expect((await operator("POST", "/v1/calls/initiate", json)).status).toBe(201);
  }
  await vi.waitFor(() => expect(healthy.hits("/ok")).toHaveLength(EVENTS), 9_000);
  await vi.waitFor(() => expect(dead.hits("/hang")).toHaveLength(LANE_WIDTH), 9_000);
  expect(dead.hits("/hang")).toHaveLength(LANE_WIDTH);
});
