import { Receiver } from "@upstash/qstash";
import { expect, test } from "vitest";
import {
  CURRENT_KEY,
  NEXT_KEY,
  qstashClient,
  serveQStash,
  serveReceiver,
  TOKEN,
} from "./qstash-support.ts";

test("a message arrives with its query, body, forwarded headers and QStash's own", async () => {
  await using destination = await serveReceiver();
  await using world = await serveQStash();
  const url = `${destination.url}/x?y=1&z=http://a/b`;
  const { messageId } = await world.client.publishJSON({
    url,
    body: { id: "d1" },
    headers: { "X-Trace": "t1" },
    label: "delivery",
  });
  await world.qstash.idle();

  expect(destination.received).toHaveLength(1);
  expect(destination.received[0]).toMatchObject({
    path: "/x?y=1&z=http://a/b",
    method: "POST",
    body: '{"id":"d1"}',
    headers: {
      "content-type": "application/json",
      "user-agent": "Upstash-QStash",
      "upstash-message-id": messageId,
      "upstash-retried": "0",
      "upstash-label": "delivery",
      "x-trace": "t1",
    },
  });
  expect(world.attempts).toEqual([
    expect.objectContaining({ url, messageId, retried: 0, status: 200, body: '{"id":"d1"}' }),
  ]);
});

test("a delivery verifies with the current key, and with the next one after a rotation", async () => {
  await using destination = await serveReceiver();
  await using before = await serveQStash();
  await using after = await serveQStash({ signingKey: NEXT_KEY });
  const receiver = new Receiver({
    currentSigningKey: CURRENT_KEY,
    nextSigningKey: NEXT_KEY,
    devMode: false,
  });
  for (const world of [before, after]) {
    await world.qstash.advance(86_400);
    await world.client.publishJSON({ url: `${destination.url}/q`, body: { id: "é" } });
    await world.qstash.idle();
  }
  for (const { headers, body } of destination.received) {
    const signature = String(headers["upstash-signature"]);
    const url = `${destination.url}/q`;
    expect(await receiver.verify({ signature, body, url })).toBe(true);
    await expect(receiver.verify({ signature, body: `${body} `, url })).rejects.toThrow();
    await expect(receiver.verify({ signature, body, url: `${url}2` })).rejects.toThrow();
  }
  expect(destination.received).toHaveLength(2);
});

test("each item of a batch is published or refused on its own", async () => {
  await using destination = await serveReceiver();
  await using world = await serveQStash();
  const answers: unknown[] = await world.client.batchJSON([
    { url: `${destination.url}/a`, body: 1, method: "PUT" },
    { url: "not-a-url", body: 2 },
    { url: `${destination.url}/b`, body: 3, queueName: "fifo" },
    { url: `${destination.url}/c`, body: 4, headers: { "X-N": "4" } },
  ]);
  await world.qstash.idle();
  expect(answers).toEqual([
    expect.objectContaining({ messageId: expect.any(String) }),
    { error: expect.stringContaining("http://") },
    { error: expect.stringContaining("not supported") },
    expect.objectContaining({ messageId: expect.any(String) }),
  ]);
  const got = destination.received.map(({ path, method }) => `${method} ${path}`).sort();
  expect(got).toEqual(["POST /c", "PUT /a"]);
});

test("a message published twice with one deduplication id in ten minutes is delivered once", async () => {
  await using destination = await serveReceiver();
  await using world = await serveQStash();
  const message = { url: destination.url, body: 1, deduplicationId: "d1" };
  const first = await world.client.publishJSON(message);
  await world.qstash.advance(500);
  expect(await world.client.publishJSON(message)).toMatchObject({
    messageId: first.messageId,
    deduplicated: true,
  });
  await world.qstash.idle();
  expect(destination.received).toHaveLength(1);
  await world.qstash.advance(101);
  await world.client.publishJSON(message);
  await world.qstash.idle();
  expect(destination.received).toHaveLength(2);
});

test("content-based deduplication drops equal messages only", async () => {
  await using destination = await serveReceiver();
  await using world = await serveQStash();
  const publish = (body: unknown) =>
    world.client.publishJSON({ url: destination.url, body, contentBasedDeduplication: true });
  await publish("a");
  await publish("a");
  await publish("b");
  await world.qstash.idle();
  expect(destination.received.map(({ body }) => body).sort()).toEqual(['"a"', '"b"']);
});

test("two hundred messages at once all arrive, each once", async () => {
  await using destination = await serveReceiver();
  await using world = await serveQStash();
  const bodies = Array.from({ length: 200 }, (_, index) => index);
  await Promise.all(bodies.map((body) => world.client.publishJSON({ url: destination.url, body })));
  await world.qstash.idle();
  expect(destination.received.map(({ body }) => Number(body)).sort((a, b) => a - b)).toEqual(
    bodies,
  );
});

test("a wrong token is answered 401 with an error", async () => {
  await using world = await serveQStash();
  const answer = await fetch(`${world.baseUrl}/v2/keys`, {
    headers: { authorization: "Bearer x" },
  });
  expect(answer.status).toBe(401);
  expect(await answer.json()).toEqual({ error: expect.any(String) });
});

test.each([
  ["Upstash-Method", "SHOUT"],
  ["Upstash-Delay", "soon"],
  ["Upstash-Retries", "-1"],
  ["Upstash-Not-Before", "tomorrow"],
  ["Upstash-Retry-Delay", "pow(2"],
  ["Upstash-Retry-Delay", "process.exit()"],
  ["Upstash-Timeout", "13h"],
  ["Upstash-Callback", "nowhere"],
  ["Upstash-Queue-Name", "fifo"],
  ["Upstash-Workflow-RunId", "r1"],
])("%s: %s is refused with 400 and nothing is published", async (name, value) => {
  await using destination = await serveReceiver();
  await using world = await serveQStash();
  const answer = await fetch(`${world.baseUrl}/v2/publish/${destination.url}`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, [name]: value },
  });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toEqual({ error: expect.any(String) });
  await world.qstash.idle();
  expect(destination.received).toEqual([]);
});

test("what the stand-in does not do is refused, not ignored", async () => {
  await using world = await serveQStash();
  const client = qstashClient(world.baseUrl);
  const url = "http://127.0.0.1:1/";
  await expect(client.queue({ queueName: "q" }).enqueueJSON({ url })).rejects.toThrow("supported");
  await expect(client.publishJSON({ urlGroup: "g" })).rejects.toThrow("supported");
  await expect(client.urlGroups.list()).rejects.toThrow("supported");
});

test("the signing keys can be read", async () => {
  await using world = await serveQStash();
  const headers = { authorization: `Bearer ${TOKEN}` };
  const answer = await fetch(`${world.baseUrl}/v2/keys`, { headers });
  expect(await answer.json()).toEqual({ current: CURRENT_KEY, next: NEXT_KEY });
});
