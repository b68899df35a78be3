import { setTimeout as delay } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type CallClient, joinCall, type ServerMessage } from "../../dev/call-client.ts";
import { spokenWithText } from "../../dev/carried-text.ts";
import { synthesize } from "../../dev/speech.ts";
import { agentInput } from "../support/agent-input.ts";
import { apiClient } from "../support/node/api.ts";
import { type StackProcess, startStackProcess, temporaryState } from "../support/node/stack.ts";

/** Short enough to wait for; long enough for a busy machine to speak in. */
const env = {
  CALL_JOIN_SECONDS: "2",
  CALL_REJOIN_SECONDS: "3",
  CALL_IDLE_SECONDS: "6",
  CALL_MAX_SECONDS: "120",
};
const state = temporaryState();
let stack: StackProcess;
let inboxes = 0;

const start = (more: Record<string, string> = {}) =>
  startStackProcess({ env: { ...env, ...more }, stateDir: state.stateDir });

beforeAll(async () => {
  stack = await start();
});
afterAll(async () => {
  await stack.stop();
  await state.remove();
});

async function newCall() {
  inboxes += 1;
  const inbox = `call-${inboxes}`;
  const operator = apiClient(stack.ready.baseUrl, stack.ready.apiKey);
  const callbackUrl = `${stack.ready.worldUrl}/inbox/${inbox}`;
  const created = await operator("POST", "/v1/auth/keys", { callbackUrl });
  const { key, webhookSecret } = created.body.data;
  const api = apiClient(stack.ready.baseUrl, key);
  const agent = await api("POST", "/v1/agents", agentInput);
  const json = { assistantId: agent.body.data.id, type: "web" };
  const started = await api("POST", "/v1/calls/initiate", json);
  expect(started.status).toBe(201);
  const { callId, gateway } = started.body;
  return { key, inbox, webhookSecret, callId: callId as string, url: gateway.url as string };
}

/** The call once it is over, as the API tells it. */
function ended(call: { key: string; callId: string }, expected: object) {
  const api = apiClient(stack.ready.baseUrl, call.key);
  return vi.waitFor(
    async () => {
      const { body } = await api("GET", `/v1/calls/${call.callId}`);
      expect(body).toMatchObject({ data: expected });
    },
    // A key may ask once a second, and this one asks for other things too.
    { timeout: 20_000, interval: 1_000 },
  );
}

async function transcriptOf(call: { key: string; callId: string }) {
  const api = apiClient(stack.ready.baseUrl, call.key);
  return (await api("GET", `/v1/calls/${call.callId}/transcripts`)).body.data as {
    role: string;
    content: string;
    interrupted?: true;
  }[];
}

/** The last event of a call, verified. */
function lastEvent(call: { inbox: string; webhookSecret: string }) {
  return vi.waitFor(
    async () => {
      const url = `${stack.ready.worldUrl}/received?kind=inbox&name=${call.inbox}`;
      const received = (await (await fetch(url)).json()) as {
        body: string;
        headers: Record<string, string>;
      }[];
      const events = received.map(
        ({ body, headers }) =>
          new Webhook(call.webhookSecret).verify(body, headers) as {
            type: string;
            data: Record<string, unknown>;
          },
      );
      const last = events.filter(({ type }) => type !== "call.initiated");
      expect(last).toHaveLength(1);
      return last[0];
    },
    { timeout: 20_000, interval: 100 },
  );
}

const isText = (message: ServerMessage) =>
  message.type === "agent_text" && message["final"] === true;

async function joinByText(url: string): Promise<CallClient> {
  const client = await joinCall(url, { microphone: false });
  client.send({ type: "start", text_only: true });
  await client.until(isText);
  return client;
}

test("a call that nobody joins ends as not answered, and is told as failed", async () => {
  const call = await newCall();
  await ended(call, { status: 5, endReason: "not_joined", durationSeconds: 0 });
  expect(await lastEvent(call)).toMatchObject({ type: "call.failed", data: { status: 5 } });
  await expect(joinCall(call.url)).rejects.toThrow("409");
});

test("a call in which nothing is said any more is closed as idle", async () => {
  const call = await newCall();
  const client = await joinByText(call.url);
  expect(await client.closed).toEqual({ code: 4408, reason: "idle" });
  await ended(call, { status: 3, endReason: "idle" });
});

test("a line that breaks may come back, and the conversation goes on", async () => {
  const call = await newCall();
  const first = await joinByText(call.url);
  first.cut();
  await first.closed;
  await delay(500);
  const second = await joinCall(call.url, { microphone: false });
  second.send({ type: "user_text", text: "I am back." });
  await second.until(isText);
  second.close();
  await ended(call, { status: 3, endReason: "hangup" });
  expect((await transcriptOf(call)).map(({ role }) => role)).toEqual([
    "assistant",
    "user",
    "assistant",
  ]);
});

test("a line that breaks and does not come back ends the call as disconnected", async () => {
  const call = await newCall();
  const client = await joinByText(call.url);
  client.cut();
  await ended(call, { status: 3, endReason: "disconnected" });
});

test("a frame of 10 MB closes the socket for abuse, and the call has an end", async () => {
  const call = await newCall();
  const client = await joinByText(call.url);
  client.sendRaw(new Uint8Array(10 * 1024 * 1024));
  expect((await client.closed).code).toBe(4400);
  await ended(call, { status: 4, endReason: "error" });
  expect(await lastEvent(call)).toMatchObject({ type: "call.failed" });
});

test("more than a thousand frames a second, for long, closes the socket for abuse", async () => {
  const call = await newCall();
  const client = await joinByText(call.url);
  let isClosed = false;
  const closed = client.closed.then((how) => {
    isClosed = true;
    return how;
  });
  const until = Date.now() + 30_000;
  while (!isClosed && Date.now() < until) {
    for (let i = 0; i < 150; i++) client.sendRaw('{"type":"interrupt"}');
    await delay(50);
  }
  expect((await closed).code).toBe(4400);
  await ended(call, { status: 4, endReason: "error" });
});

const SAMPLE_RATE = 16_000;

async function speech(text: string): Promise<Int16Array> {
  return spokenWithText(text, SAMPLE_RATE, await synthesize(text, "onyx", SAMPLE_RATE));
}

/** Too short for a word, loud enough to be one's beginning. */
const knock = Int16Array.from({ length: SAMPLE_RATE * 0.15 }, (_, i) =>
  Math.round(8_000 * Math.sin((2 * Math.PI * 300 * i) / SAMPLE_RATE)),
);

/** Audio that came between a `clear` and the next `agent_audio_start`: ms after the former. */
function audioAfterClear({ messages, audio }: CallClient) {
  return messages.flatMap((clear, index) => {
    if (clear.type !== "clear") return [];
    const next = messages.slice(index).find(({ type }) => type === "agent_audio_start");
    return audio
      .filter(({ at }) => at > clear.at && at < (next?.at ?? Number.POSITIVE_INFINITY))
      .map(({ at }) => at - clear.at);
  });
}

type ModelRequest = { stream: boolean; messages: { role: string; content: string }[] };

/** What the model was told of an agent's words, for each reply asked for in a call, in order. */
async function agentLinesTold(callId: string) {
  const answer = await fetch(`${stack.ready.worldUrl}/received?kind=model`);
  return ((await answer.json()) as ModelRequest[])
    .filter(({ stream, messages }) => stream && JSON.stringify(messages).includes(callId))
    .map(({ messages }) =>
      messages.flatMap(({ role, content }) => (role === "assistant" ? [content] : [])),
    );
}

test("a knock pauses the agent, an uh-huh lets it go on, and a word ends its reply", async () => {
  const call = await newCall();
  const client = await joinCall(call.url);
  await client.until((m) => m.type === "agent_audio_end");
  await client.until((m) => m.type === "state" && m["state"] === "listening");
  let from = client.messages.length;
  client.send({ type: "user_text", text: `Please explain it in detail, ${call.callId}.` });
  const { turn_id: turnId } = await client.until((m) => m.type === "agent_audio_start", { from });
  const before = client.playedMs();
  const isOfReply = (type: string) => (m: ServerMessage) =>
    m.type === type && m["turn_id"] === turnId;

  await delay(2_000);
  from = client.messages.length;
  const knockedAt = Date.now();
  await client.say(knock);
  const clear = await client.until(isOfReply("clear"), { from });
  expect(clear.at - knockedAt).toBeLessThan(300);
  await client.until(isOfReply("agent_audio_start"), { from });

  await delay(1_500);
  from = client.messages.length;
  await client.say(await speech("Uh-huh."));
  await client.until(isOfReply("clear"), { from });
  await client.until(isOfReply("agent_audio_start"), { from });
  expect(client.messages.filter(isOfReply("interruption"))).toEqual([]);

  await delay(1_500);
  from = client.messages.length;
  await client.say(await speech("Stop."));
  const interruption = await client.until(isOfReply("interruption"), { from });
  const played = client.playedMs() - before;
  await client.until((m) => isText(m) && m["turn_id"] !== turnId, { from });
  client.close();
  await ended(call, { status: 3, endReason: "hangup" });

  const heard = String(interruption["heard_text"]);
  const written = client.messages.find((m) => isText(m) && m["turn_id"] === turnId);
  expect(String(written?.["text"]).startsWith(heard)).toBe(true);
  expect(Math.abs(Number(interruption["heard_ms"]) - played)).toBeLessThan(300);
  const lines = (await transcriptOf(call)).slice(1, 4);
  expect(lines).toEqual([
    { role: "user", content: `Please explain it in detail, ${call.callId}.` },
    { role: "assistant", content: heard, interrupted: true },
    { role: "user", content: "Stop." },
  ]);
  expect((await agentLinesTold(call.callId)).at(-1)?.slice(1)).toEqual([heard]);
  expect(audioAfterClear(client)).toEqual([]);
});

test("ten interruptions at random moments: the transcript holds just what was played", async () => {
  const call = await newCall();
  const client = await joinCall(call.url);
  await client.until((m) => m.type === "agent_audio_end");
  const heard: { text: string; ms: number; played: number }[] = [];
  let from = client.messages.length;
  const text = `Please explain it in detail, ${call.callId}.`;
  client.send({ type: "user_text", text });
  for (let i = 0; i < 10; i++) {
    const begin = await client.until((m) => m.type === "agent_audio_start", { from });
    const before = client.playedMs();
    await delay(200 + Math.random() * 2_500);
    from = client.messages.length;
    client.send({ type: "user_text", text });
    const clear = await client.until((m) => m.type === "clear", { from });
    expect(clear["turn_id"]).toBe(begin["turn_id"]);
    const played = client.playedMs() - before;
    const interruption = await client.until((m) => m.type === "interruption", { from });
    heard.push({
      text: String(interruption["heard_text"]),
      ms: Number(interruption["heard_ms"]),
      played,
    });
  }
  // The last question has reached the model too.
  await client.until((m) => m.type === "agent_text", { from });
  client.close();
  await ended(call, { status: 3, endReason: "hangup" });
  const interrupted = (await transcriptOf(call)).filter((line) => line.interrupted);
  const spoken = heard.filter(({ text }) => text !== "").map(({ text }) => text);
  expect(interrupted.slice(-spoken.length).map(({ content }) => content)).toEqual(spoken);
  expect(audioAfterClear(client)).toEqual([]);
  // The greeting aside, each request to the model held what was heard until then and nothing else.
  const told = await agentLinesTold(call.callId);
  expect(told.map((lines) => lines.slice(-spoken.length).join(" | ")).at(-1)).toBe(
    spoken.join(" | "),
  );
  expect(told).toHaveLength(11);
  // A word is some 300 ms long: within one of what the loudspeaker played.
  for (const { ms, played } of heard) expect(Math.abs(ms - played)).toBeLessThan(300);
});

test("a service killed in the middle of a call: the call ends, its words and its event are kept", async () => {
  // Longer than it takes to start again: it must end for the loss of its client, not of its words.
  const patient = { CALL_IDLE_SECONDS: "60" };
  await stack.stop();
  stack = await start(patient);
  const call = await newCall();
  const client = await joinByText(call.url);
  client.send({ type: "user_text", text: "Please remember this line." });
  const answer = await client.until((m) => isText(m) && m["turn_id"] !== 1);
  await stack.kill();
  stack = await start(patient);
  await ended(call, { status: 3, endReason: "disconnected" });
  expect((await transcriptOf(call)).slice(1)).toEqual([
    { role: "user", content: "Please remember this line." },
    { role: "assistant", content: answer["text"] },
  ]);
  expect(await lastEvent(call)).toMatchObject({
    type: "call.completed",
    data: { callId: call.callId, endReason: "disconnected" },
  });
});

test("a close with any code is answered with it; a code that is no hang-up may come back", async () => {
  const call = await newCall();
  const first = await joinByText(call.url);
  first.close(3000);
  expect((await first.closed).code).toBe(3000);
  const second = await joinCall(call.url, { microphone: false });
  second.send({ type: "user_text", text: "I am back." });
  await second.until(isText);
  second.close();
  expect((await second.closed).code).toBe(1000);
  await ended(call, { status: 3, endReason: "hangup" });
});
