import { expect, test } from "vitest";
import { newAgent } from "../../support/worker/call.ts";
import { request } from "../../support/worker/client.ts";

test("fifty web calls of an organization may be live, and not one more, however many ask at once", async () => {
  const { key, agentId } = await newAgent();
  const json = { assistantId: agentId, type: "web" };
  const answers = await Promise.all(
    Array.from({ length: 56 }, () => request("POST", "/v1/calls/initiate", { key, json })),
  );
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 201)).toHaveLength(50);
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused.map(({ body }) => body.error.code)).toEqual(Array(6).fill("concurrency_limit"));
  expect(refused.map(({ status }) => status)).toEqual(Array(6).fill(429));

  const ended = answers.find(({ status }) => status === 201)?.body.callId;
  expect((await request("POST", `/v1/calls/${ended}/end`, { key })).status).toBe(200);
  expect((await request("POST", "/v1/calls/initiate", { key, json })).status).toBe(201);
});
