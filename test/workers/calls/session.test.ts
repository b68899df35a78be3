import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import {
  finalText,
  handshake,
  join,
  newAgent,
  newCall,
  scriptModel,
} from "../../support/worker/call.ts";
import { env, request, worldUrl } from "../../support/worker/client.ts";

const GREETING = "Hello, this is Ava from Acme. How can I help you today?";
const transcriptOf = async (key: string, callId: string) =>
  (await request("GET", `/v1/calls/${callId}/transcripts`, { key })).body.data;
const callOf = async (key: string, callId: string) =>
  (await request("GET", `/v1/calls/${callId}`, { key })).body.data;
const ended = (key: string, callId: string, expected: object) =>
  vi.waitFor(async () => expect(await callOf(key, callId)).toMatchObject(expected), {
    timeout: 10_000,
    interval: 250,
  });

test("a text conversation is answered, hung up, and its transcript kept", async () => {
  const { key, agentId } = await newAgent();
  const { callId, path } = await newCall(key, agentId);
  expect(await callOf(key, callId)).toMatchObject({ status: 0, durationSeconds: 0, endedAt: null });
  const client = await join(path);
  await client.until((m) => m.type === "ready" && m["call_id"] === callId);
  await client.until(finalText(GREETING));
  client.send({ type: "user_text", text: "I lost my parcel." });
  const reply = await client.until(
    (m) => m.type === "agent_text" && m["turn_id"] !== 1 && m["final"] === true,
  );
  expect(client.audio).toEqual([]);
  await vi.waitFor(async () => expect(await callOf(key, callId)).toMatchObject({ status: 2 }));

  client.socket.close(1000);
  await ended(key, callId, { status: 3, endReason: "hangup" });
  expect(await transcriptOf(key, callId)).toEqual([
    { role: "assistant", content: GREETING },
    { role: "user", content: "I lost my parcel." },
    { role: "assistant", content: reply["text"] },
  ]);
});

test("the gateway refuses what it does not know: unknown call 404, other agent 404, ended 409", async () => {
  const { key, agentId } = await newAgent();
  const { callId, path } = await newCall(key, agentId);
  expect((await handshake(path.replace(/call_id=.*/, "call_id=nonsense"))).status).toBe(404);
  const unknown = path.replace(callId, `call_${"0".repeat(34)}`);
  expect((await handshake(unknown)).status).toBe(404);
  expect((await handshake(path.replace(agentId, "agt_other"))).status).toBe(404);

  await request("POST", `/v1/calls/${callId}/end`, { key });
  const refused = await handshake(path);
  expect(refused.status).toBe(409);
  expect(await refused.json()).toMatchObject({ error: { code: "call_ended" } });
});

test("ending a call by the API closes its socket and is final", async () => {
  const { key, agentId } = await newAgent();
  const { callId, path } = await newCall(key, agentId);
  const client = await join(path);
  await client.until(finalText(GREETING));
  const answer = await request("POST", `/v1/calls/${callId}/end`, { key });
  expect(answer.body.data).toMatchObject({ status: 3, endReason: "api" });
  expect(await client.untilClosed()).toEqual({ code: 1000, reason: "api" });
  expect(client.messages.at(-1)).toEqual({ type: "ended", reason: "api" });
  const again = await request("POST", `/v1/calls/${callId}/end`, { key });
  expect(again.body.data).toEqual(answer.body.data);
});

test("revoking the key closes its live call with 4401, and its unjoined call answers 401", async () => {
  const { key: owner, agentId } = await newAgent();
  const created = await request("POST", "/v1/auth/keys", { key: owner, json: {} });
  const { id, key } = created.body.data;
  const live = await newCall(key, agentId);
  const unjoined = await newCall(key, agentId);
  const client = await join(live.path);
  await client.until(finalText(GREETING));

  await request("POST", `/v1/auth/keys/${id}/revoke`, { key: owner });
  expect(await client.untilClosed()).toEqual({ code: 4401, reason: "key_revoked" });
  await ended(owner, live.callId, { status: 3, endReason: "key_revoked" });
  await ended(owner, unjoined.callId, { status: 7, endReason: "key_revoked", durationSeconds: 0 });
  const refused = await handshake(unjoined.path);
  expect(refused.status).toBe(401);
  expect(await refused.json()).toMatchObject({ error: { code: "key_revoked" } });
});

test("an object evicted between two turns knows what was said", async () => {
  const { key, agentId } = await newAgent();
  const { callId, path } = await newCall(key, agentId);
  const client = await join(path);
  await client.until(finalText(GREETING));
  await evictDurableObject(env.CALL_SESSION.getByName(callId));

  client.send({ type: "user_text", text: "Are you still there?" });
  const reply = await client.until(
    (m) => m.type === "agent_text" && m["turn_id"] !== 1 && m["final"] === true,
  );
  expect(await transcriptOf(key, callId)).toEqual([
    { role: "assistant", content: GREETING },
    { role: "user", content: "Are you still there?" },
    { role: "assistant", content: reply["text"] },
  ]);
});

test("a second socket takes the call over, and the conversation goes on there", async () => {
  const { key, agentId } = await newAgent();
  const { path, callId } = await newCall(key, agentId);
  const first = await join(path);
  await first.until(finalText(GREETING));
  const second = await join(path);
  expect((await first.untilClosed()).code).toBe(4409);
  second.send({ type: "user_text", text: "It is me again." });
  await second.until((m) => m.type === "agent_text" && m["final"] === true);
  expect(await callOf(key, callId)).toMatchObject({ status: 2 });
});

test("bad JSON, unknown types and odd audio are told, and the call goes on", async () => {
  const { key, agentId } = await newAgent();
  const { path } = await newCall(key, agentId);
  const client = await join(path);
  await client.until(finalText(GREETING));
  client.socket.send("{");
  client.send({ type: "dance" });
  client.send({ type: "user_text", text: "" });
  client.socket.send(new Uint8Array([1, 2, 3]));
  await client.until((m) => m["code"] === "odd_audio");
  expect(client.ofType("error").map((m) => m["code"])).toEqual([
    "bad_json",
    "unknown_type",
    "bad_message",
    "odd_audio",
  ]);
  client.socket.send("ping");
  await client.until((m) => m.type === "pong");
  client.send({ type: "user_text", text: "Hello?" });
  await client.until((m) => m.type === "agent_text" && m["turn_id"] !== 1 && m["final"] === true);
});

test("a model that fails twice leaves a written apology and a call that failed", async () => {
  const { key, agentId } = await newAgent();
  const { callId, path } = await newCall(key, agentId);
  const client = await join(path);
  await client.until(finalText(GREETING));
  const line = `Break ${callId}`;
  await scriptModel(worldUrl, line, { status: 500 });
  await scriptModel(worldUrl, line, { status: 500 });
  client.send({ type: "user_text", text: line });
  expect(await client.untilClosed()).toEqual({ code: 1011, reason: "error" });
  await ended(key, callId, { status: 4, endReason: "error" });
  const transcript = await transcriptOf(key, callId);
  expect(transcript.at(-1).role).toBe("assistant");
  expect(transcript.at(-1).content).toContain("sorry");
});

test("an end-call phrase of the caller ends the call", async () => {
  const { key, agentId } = await newAgent({ end_call_phrases: ["goodbye now"] });
  const { callId, path } = await newCall(key, agentId);
  const client = await join(path);
  await client.until(finalText(GREETING));
  client.send({ type: "user_text", text: "Thanks, goodbye now!" });
  expect(await client.untilClosed()).toEqual({ code: 1000, reason: "end_phrase" });
  await ended(key, callId, { status: 3, endReason: "end_phrase" });
});

test("an object that crashes in mid-reply goes on: what was said stands, and the call is answered", async () => {
  const { key, agentId } = await newAgent();
  const { callId, path } = await newCall(key, agentId);
  const client = await join(path);
  await client.until(finalText(GREETING));
  const line = `Slowly, please ${callId}`;
  await scriptModel(worldUrl, line, { text: "One two three four five six.", tokenDelayMs: 2_000 });
  client.send({ type: "user_text", text: line });
  await client.until((m) => m.type === "agent_text" && m["delta"] === "One");
  const stub = env.CALL_SESSION.getByName(callId);
  const broken = runInDurableObject(stub, (_, state) => state.abort("crash"));
  await expect(broken).rejects.toThrow("crash");

  const again = await join(path);
  again.send({ type: "user_text", text: "Are you there?" });
  await again.until((m) => m.type === "agent_text" && m["final"] === true);
  const transcript = await transcriptOf(key, callId);
  expect(transcript.slice(0, 2)).toEqual([
    { role: "assistant", content: GREETING },
    { role: "user", content: line },
  ]);
  expect(transcript).toContainEqual({ role: "user", content: "Are you there?" });
  expect(transcript.at(-1)?.role).toBe("assistant");
});

test("an object evicted while its reply is being played still knows how much was heard", async () => {
  const { key, agentId } = await newAgent();
  const { callId, path } = await newCall(key, agentId);
  const client = await join(path);
  client.send({ type: "start", audio: { encoding: "pcm16", sampleRate: 16_000 } });
  const begun = await client.until((m) => m.type === "agent_audio_start");
  await client.until((m) => m.type === "agent_audio_end");
  await evictDurableObject(env.CALL_SESSION.getByName(callId));

  client.send({ type: "interrupt" });
  const cut = await client.until((m) => m.type === "interruption");
  expect(cut["turn_id"]).toBe(begun["turn_id"]);
  expect(GREETING.startsWith(String(cut["heard_text"]))).toBe(true);
  expect(String(cut["heard_text"]).length).toBeLessThan(GREETING.length);
  client.socket.close(1000);
  await ended(key, callId, { status: 3 });
  const heard = cut["heard_text"]
    ? [{ role: "assistant", content: cut["heard_text"], interrupted: true }]
    : [];
  expect(await transcriptOf(key, callId)).toEqual(heard);
});
