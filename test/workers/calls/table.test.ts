import { expect, test } from "vitest";
import { isE164 } from "../../../src/resources/calls/start-phone.ts";
import { agentInput } from "../../support/agent-input.ts";
import { newAgent, newCall } from "../../support/worker/call.ts";
import { newOrganization, request } from "../../support/worker/client.ts";

const ids = (answer: { body: { data: { id: string }[] } }) => answer.body.data.map(({ id }) => id);

test("a started call names its id and where to connect", async () => {
  const { key, agentId } = await newAgent();
  const json = { assistantId: agentId, type: "web" };
  const { status, body } = await request("POST", "/v1/calls/initiate", { key, json });
  expect(status).toBe(201);
  expect(body.callId).toMatch(/^call_[0-9A-Z]{34}$/);
  const path = "/new-web-call/connection";
  expect(body.gateway).toEqual({
    transport: "websocket",
    path,
    url: `ws://service.test${path}?assistant_id=${agentId}&call_id=${body.callId}`,
  });
  expect((await request("GET", `/v1/calls/${body.callId}`, { key })).body.data).toEqual({
    id: body.callId,
    type: "web",
    status: 0,
    assistantId: agentId,
    createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    durationSeconds: 0,
    endedAt: null,
    endReason: null,
    accessPoint: "api",
    direction: "inbound",
  });
});

test.each([
  [{ type: "web" }, 400],
  [{ assistantId: "agt_unknown", type: "phone" }, 400],
  [{ assistantId: "agt_unknown", type: "web" }, 404],
])("initiating with %j is refused with %i", async (json, status) => {
  const { apiKey: key } = await newOrganization();
  const answer = await request("POST", "/v1/calls/initiate", { key, json });
  expect(answer.status).toBe(status);
});

test("calls are listed newest first, filtered and paged", async () => {
  const { key, agentId } = await newAgent();
  const other = (
    await request("POST", "/v1/agents", {
      key,
      json: { ...agentInput, name: "Bo" },
    })
  ).body.data.id;
  const first = (await newCall(key, agentId)).callId;
  const second = (await newCall(key, other)).callId;
  const third = (await newCall(key, agentId)).callId;
  await request("POST", `/v1/calls/${second}/end`, { key });

  const list = (query: string) => request("GET", `/v1/calls?${query}`, { key });
  expect(ids(await list(""))).toEqual([third, second, first]);
  expect(ids(await list(`assistantId=${other}`))).toEqual([second]);
  expect(ids(await list("status=0"))).toEqual([third, first]);
  expect(ids(await list("status=7"))).toEqual([second]);
  expect(ids(await list("type=phone"))).toEqual([]);
  const today = new Date().toISOString().slice(0, 10);
  expect(ids(await list(`startDate=${today}&endDate=${today}`))).toEqual([third, second, first]);
  expect(ids(await list("endDate=2020-01-01"))).toEqual([]);
  const page = await list("page=2&pageSize=2");
  expect(ids(page)).toEqual([first]);
  expect(page.body.meta).toEqual({ page: 2, pageSize: 2, totalPages: 2, totalCount: 3 });
  expect((await list("status=9")).status).toBe(400);
  expect((await list("startDate=yesterday")).status).toBe(400);
});

test("a phone call is validated, and from a number that is not there answers 404", async () => {
  const { apiKey: key } = await newOrganization();
  const call = (json: object) => request("POST", "/v1/calls/phone/initiate", { key, json });
  const good = { phone_purchase_id: "num_unknown", phoneNumber: "+14155552671" };
  const unknown = await call({ ...good, provider: "service_telephony_1" });
  expect([unknown.status, unknown.body.error.code]).toEqual([404, "phone_purchase_not_found"]);
  for (const json of [{}, { ...good, phoneNumber: "5551234" }, { phoneNumber: good.phoneNumber }]) {
    expect((await call(json)).status).toBe(400);
  }
});

test.each([
  ["+14155552671", true],
  ["+442071838750", true],
  ["+4930123456", true],
  ["14155552671", false],
  ["+1 415 555 2671", false],
  ["+0123456789", false],
  ["+123", false],
  ["+999123456789", false],
  ["+14155552671;ext=5", false],
])("%s as a number in E.164 form: %s", (text, expected) => {
  expect(isE164(text)).toBe(expected);
});
