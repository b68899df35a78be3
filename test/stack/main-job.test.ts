import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { joinCall, type ServerMessage } from "../../dev/call-client.ts";
import { spokenWithText } from "../../dev/carried-text.ts";
import { synthesize } from "../../dev/speech.ts";
import { agentInput } from "../support/agent-input.ts";
import { apiClient } from "../support/node/api.ts";
import { type StackProcess, startStackProcess } from "../support/node/stack.ts";

const SAMPLE_RATE = 16_000;
/** A key may ask sixty times a minute, and tests do not get more. */
const patiently = { timeout: 15_000, interval: 400 };
let stack: StackProcess;
let inboxes = 0;

beforeAll(async () => {
  stack = await startStackProcess();
});
afterAll(async () => {
  await stack.stop();
});

/** A key with an inbox of its own, and an agent. */
async function newCustomer() {
  inboxes += 1;
  const inbox = `customer-${inboxes}`;
  const operator = apiClient(stack.ready.baseUrl, stack.ready.apiKey);
  const callbackUrl = `${stack.ready.worldUrl}/inbox/${inbox}`;
  const created = await operator("POST", "/v1/auth/keys", { callbackUrl });
  expect(created.status).toBe(201);
  const { key, webhookSecret } = created.body.data;
  const api = apiClient(stack.ready.baseUrl, key);
  const agent = await api("POST", "/v1/agents", agentInput);
  return { api, inbox, webhookSecret, agentId: agent.body.data.id as string };
}

type Received = { body: string; headers: Record<string, string> };

async function receivedBy(inbox: string): Promise<Received[]> {
  const url = `${stack.ready.worldUrl}/received?kind=inbox&name=${inbox}`;
  return (await (await fetch(url)).json()) as Received[];
}

const isFinal = (type: string) => (message: ServerMessage) =>
  message.type === type && message["final"] === true;

async function speech(text: string): Promise<Int16Array> {
  return spokenWithText(text, SAMPLE_RATE, await synthesize(text, "onyx", SAMPLE_RATE));
}

test("spoken words go in, spoken words come out, and the transcript is what was said", async () => {
  const { api, agentId, inbox, webhookSecret } = await newCustomer();
  const started = await api("POST", "/v1/calls/initiate", { assistantId: agentId, type: "web" });
  const call = await joinCall(started.body.gateway.url);
  await call.until((m) => m.type === "agent_audio_end");
  await call.until((m) => m.type === "state" && m["state"] === "listening");
  const greetingMs = call.playedMs();
  expect(greetingMs).toBeGreaterThan(1_500);
  expect(greetingMs).toBeLessThan(8_000);

  const from = call.messages.length;
  await call.say(await speech("Where is order 4792?"));
  await call.until((m) => isFinal("user_transcript")(m), { from });
  const answer = await call.until(isFinal("agent_text"), { from });
  await call.until((m) => m.type === "agent_audio_end", { from });
  await call.until((m) => m.type === "state" && m["state"] === "listening", { from });
  expect(call.playedMs()).toBeGreaterThan(greetingMs + 1_000);
  call.close();

  await vi.waitFor(async () => {
    const { body } = await api("GET", `/v1/calls/${started.body.callId}`);
    expect(body.data).toMatchObject({ status: 3, endReason: "hangup" });
  }, patiently);
  const transcript = await api("GET", `/v1/calls/${started.body.callId}/transcripts`);
  expect(transcript.body.data).toEqual([
    { role: "assistant", content: expect.stringContaining("this is Ava from Acme") },
    { role: "user", content: "Where is order 4792?" },
    { role: "assistant", content: answer["text"] },
  ]);

  const events = await vi.waitFor(async () => {
    const received = await receivedBy(inbox);
    expect(received).toHaveLength(2);
    return received;
  }, patiently);
  const verified = events.map(({ body, headers }) =>
    new Webhook(webhookSecret).verify(body, headers),
  );
  expect(verified).toMatchObject([
    { type: "call.initiated", data: { callId: started.body.callId, status: 0 } },
    {
      type: "call.completed",
      data: { callId: started.body.callId, status: 3, transcript: transcript.body.data },
    },
  ]);

  const history = await vi.waitFor(async () => {
    const { body } = await api("GET", "/v1/webhooks/history?pageSize=100");
    const own = body.data.items.filter((item: { url: string }) => item.url.endsWith(inbox));
    expect(own).toHaveLength(2);
    return own;
  }, patiently);
  expect(history[0]).toMatchObject({
    event: "call.completed",
    outcome: "Webhook Received",
    response_code: 200,
    type: "developer_callback",
    request_method: "POST",
  });
  const detail = await api("GET", `/v1/webhooks/history/${history[0].id}`);
  expect(detail.body.data.request_body_raw).toBe(events[1]?.body);
  expect(detail.body.data.response_body).toBe('{"received":true}');
});

test("a caller who interrupts hears silence, and the transcript ends where the reply was cut", async () => {
  const { api, agentId } = await newCustomer();
  const started = await api("POST", "/v1/calls/initiate", { assistantId: agentId, type: "web" });
  const call = await joinCall(started.body.gateway.url);
  await call.until((m) => m.type === "agent_audio_end");
  await call.until((m) => m.type === "state" && m["state"] === "listening");

  const from = call.messages.length;
  await call.say(await speech("Please explain it in detail."));
  const answer = await call.until(isFinal("agent_text"), { from });
  const playedBefore = call.playedMs();
  await vi.waitFor(() => expect(call.playedMs()).toBeGreaterThan(playedBefore + 2_500), {
    timeout: 10_000,
  });
  await call.say(await speech("Stop."));
  const interruption = await call.until((m) => m.type === "interruption", { from });
  const heard = String(interruption["heard_text"]);
  expect(heard.length).toBeGreaterThan(10);
  expect(String(answer["text"]).startsWith(heard)).toBe(true);
  expect(heard.length).toBeLessThan(String(answer["text"]).length);

  const clearAt = call.messages.find(
    (m) => m.type === "clear" && m["turn_id"] === answer["turn_id"],
  );
  expect(clearAt).toBeDefined();
  await call.until((m) => m.type === "agent_audio_start" && m["turn_id"] !== answer["turn_id"], {
    from,
  });
  call.close();
  await call.closed;
  const transcript = await vi.waitFor(async () => {
    const { body } = await api("GET", `/v1/calls/${started.body.callId}/transcripts`);
    expect(body.data.length).toBeGreaterThan(3);
    return body.data;
  }, patiently);
  expect(transcript[2]).toEqual({ role: "assistant", content: heard, interrupted: true });
});

test("a receiver that fails gets the event again, signed afresh, and each attempt is logged", async () => {
  const { api, agentId, inbox, webhookSecret } = await newCustomer();
  await fetch(`${stack.ready.worldUrl}/inbox/${inbox}/script`, {
    method: "PUT",
    body: JSON.stringify({ responses: [{ status: 500, body: "not today" }] }),
  });
  await api("POST", "/v1/calls/initiate", { assistantId: agentId, type: "web" });
  await vi.waitFor(async () => expect(await receivedBy(inbox)).toHaveLength(1), { timeout: 5_000 });
  await vi.waitFor(
    async () => {
      await fetch(`${stack.ready.worldUrl}/clock`, {
        method: "POST",
        body: JSON.stringify({ advanceSeconds: 10 }),
      });
      expect(await receivedBy(inbox)).toHaveLength(2);
    },
    { timeout: 10_000, interval: 200 },
  );
  const received = await receivedBy(inbox);
  for (const { body, headers } of received) new Webhook(webhookSecret).verify(body, headers);
  expect(received[0]?.headers["webhook-id"]).toBe(received[1]?.headers["webhook-id"]);
  const outcomes = await vi.waitFor(async () => {
    const { body } = await api("GET", "/v1/webhooks/history?pageSize=100");
    const own = body.data.items.filter((item: { url: string }) => item.url.endsWith(inbox));
    expect(own).toHaveLength(2);
    return own.map((item: Record<string, unknown>) => [
      item["attempt"],
      item["response_code"],
      item["outcome"],
    ]);
  }, patiently);
  expect(outcomes).toEqual([
    [2, 200, "Webhook Received"],
    [1, 500, "Webhook Failed"],
  ]);
});

test("a key without a callback places calls as well, and nothing is delivered", async () => {
  const operator = apiClient(stack.ready.baseUrl, stack.ready.apiKey);
  const created = await operator("POST", "/v1/auth/keys", {});
  const api = apiClient(stack.ready.baseUrl, created.body.data.key);
  const agent = await api("POST", "/v1/agents", agentInput);
  const json = { assistantId: agent.body.data.id, type: "web" };
  const started = await api("POST", "/v1/calls/initiate", json);
  await api("POST", `/v1/calls/${started.body.callId}/end`);
  const { body } = await api("GET", "/v1/webhooks/history?pageSize=100");
  const callIds = await Promise.all(
    body.data.items.map(async (item: { id: string }) => {
      const detail = await api("GET", `/v1/webhooks/history/${item.id}`);
      return detail.body.data.callId;
    }),
  );
  expect(callIds).not.toContain(started.body.callId);
});
