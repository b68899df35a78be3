import { expect, test } from "vitest";
import { serveQStash, serveReceiver } from "./qstash-support.ts";

test("a waiting message can be read; once delivered it is gone", async () => {
  await using destination = await serveReceiver();
  await using world = await serveQStash();
  const { messageId } = await world.client.publishJSON({
    url: `${destination.url}/x`,
    body: { id: "d1" },
    delay: 60,
    retries: 5,
    label: ["a", "b"],
  });
  const message = await world.client.messages.get(messageId);
  expect(message).toMatchObject({
    messageId,
    url: `${destination.url}/x`,
    method: "POST",
    header: { "Content-Type": ["application/json"] },
    body: '{"id":"d1"}',
    maxRetries: 5,
    labels: ["a", "b"],
  });
  expect((message.notBefore ?? 0) - message.createdAt).toBe(60_000);
  await world.qstash.advance(60);
  await expect(world.client.messages.get(messageId)).rejects.toMatchObject({ status: 404 });
});

test("messages are cancelled one by one, by ids and by label, and never arrive", async () => {
  await using destination = await serveReceiver();
  await using world = await serveQStash();
  const { messages } = world.client;
  const publish = async (label: string) => {
    const url = `${destination.url}/${label}`;
    return (await world.client.publishJSON({ url, body: 1, delay: 60, label })).messageId;
  };
  const [one, two, three] = [await publish("x"), await publish("x"), await publish("x")];
  for (const label of ["y", "y", "z"]) await publish(label);

  expect(await messages.cancel(one)).toEqual({ cancelled: 1 });
  await expect(messages.cancel(one)).rejects.toMatchObject({ status: 404 });
  expect(await messages.cancel([one, two, three])).toEqual({ cancelled: 2 });
  expect(await messages.cancel({ filter: { label: "y" } })).toEqual({ cancelled: 2 });
  await world.qstash.advance(60);
  expect(destination.received.map(({ path }) => path)).toEqual(["/z"]);
});

test.each([0, 3])(
  "a message with %i retries cancelled in flight is not tried again, nor a dead letter",
  async (retries) => {
    await using destination = await serveReceiver(() => "hold");
    await using world = await serveQStash();
    const { messageId } = await world.client.publishJSON({
      url: destination.url,
      body: 1,
      retries,
    });
    await destination.arrived(1);
    await world.client.messages.cancel(messageId);
    destination.received[0]?.response.writeHead(500).end();
    await world.qstash.advance(86_400);
    expect(destination.received).toHaveLength(1);
    expect((await world.client.dlq.listMessages()).messages).toEqual([]);
  },
);

test("an unknown filter is refused, so that it cannot cancel too much", async () => {
  await using world = await serveQStash();
  const { messageId } = await world.client.publishJSON({ url: "http://127.0.0.1:1/", delay: 60 });
  const filter = { labels: "x" } as unknown as { label: string };
  const cancelling = world.client.messages.cancel({ filter });
  await expect(cancelling).rejects.toMatchObject({ status: 400 });
  expect(await world.client.messages.get(messageId)).toMatchObject({ messageId });
});

test("after its last retry a message is a dead letter, and can be sent again", async () => {
  let broken = true;
  await using destination = await serveReceiver(() => (broken ? { status: 500, body: "no" } : {}));
  await using world = await serveQStash();
  const { dlq } = world.client;
  const { messageId } = await world.client.publishJSON({
    url: destination.url,
    body: 7,
    retries: 1,
  });
  await world.qstash.advance(60);
  const { messages } = await dlq.listMessages();
  expect(messages).toMatchObject([
    { messageId, responseStatus: 500, responseBody: "no", body: "7", maxRetries: 1 },
  ]);
  expect(destination.received).toHaveLength(2);

  broken = false;
  const { responses } = await dlq.retry(messages.map(({ dlqId }) => dlqId));
  await world.qstash.idle();
  expect(destination.received.at(-1)).toMatchObject({
    body: "7",
    headers: { "upstash-message-id": responses[0]?.messageId, "upstash-retried": "0" },
  });
  expect((await dlq.listMessages()).messages).toEqual([]);
});

test("489 with Upstash-NonRetryable-Error goes straight to the dead letters", async () => {
  await using destination = await serveReceiver(() => ({
    status: 489,
    headers: { "Upstash-NonRetryable-Error": "true" },
  }));
  await using world = await serveQStash();
  await world.client.publishJSON({ url: destination.url, body: 1 });
  await world.qstash.advance(86_400);
  expect(destination.received).toHaveLength(1);
  expect((await world.client.dlq.listMessages()).messages).toMatchObject([{ responseStatus: 489 }]);
});

test("a redirect counts as a failure and is not followed", async () => {
  await using destination = await serveReceiver(({ path }) =>
    path === "/from" ? { status: 307, headers: { location: "/to" } } : {},
  );
  await using world = await serveQStash();
  await world.client.publishJSON({ url: `${destination.url}/from`, body: 1, retries: 0 });
  await world.qstash.idle();
  expect(destination.received.map(({ path }) => path)).toEqual(["/from"]);
  expect((await world.client.dlq.listMessages()).messages).toMatchObject([{ responseStatus: 307 }]);
});

test("dead letters are listed in pages and deleted by id and by label", async () => {
  await using destination = await serveReceiver(() => ({ status: 500 }));
  await using world = await serveQStash();
  const { dlq } = world.client;
  for (const label of ["a", "b", "b"]) {
    await world.client.publishJSON({ url: destination.url, body: 1, retries: 0, label });
    await world.qstash.idle();
  }
  const first = await dlq.listMessages({ count: 2 });
  const second = await dlq.listMessages({ count: 2, cursor: first.cursor });
  expect([first.messages.length, second.messages.length, second.cursor]).toEqual([2, 1, undefined]);
  expect(await dlq.delete({ filter: { label: "b" } })).toMatchObject({ deleted: 2 });
  const dlqId = second.messages[0]?.dlqId ?? "";
  expect(await dlq.delete(dlqId)).toEqual({ deleted: 1 });
  await expect(dlq.delete(dlqId)).rejects.toMatchObject({ status: 404 });
});

test("callbacks tell of each attempt, the failure callback of the end", async () => {
  await using destination = await serveReceiver(({ path }) =>
    path === "/work" ? { status: 503, body: "busy" } : {},
  );
  await using world = await serveQStash();
  const { messageId } = await world.client.publishJSON({
    url: `${destination.url}/work`,
    body: { id: "w1" },
    retries: 1,
    callback: `${destination.url}/each`,
    failureCallback: `${destination.url}/end`,
    headers: { "Upstash-Failure-Callback-Forward-X-Kind": "end" },
  });
  await world.qstash.advance(60);
  const told = (path: string) =>
    destination.received.filter((each) => each.path === path).map(({ body }) => JSON.parse(body));
  const about = { sourceMessageId: messageId, status: 503, body: btoa("busy"), maxRetries: 1 };
  expect(told("/each")).toMatchObject([
    { ...about, retried: 0 },
    { ...about, retried: 1 },
  ]);
  const [letter] = (await world.client.dlq.listMessages()).messages;
  expect(told("/end")).toMatchObject([
    { ...about, retried: 1, dlqId: letter?.dlqId, sourceBody: btoa('{"id":"w1"}') },
  ]);
  const end = destination.received.find(({ path }) => path === "/end");
  expect(end?.headers).toMatchObject({ "x-kind": "end" });
});

test("events tell the life of a message, newest first", async () => {
  await using destination = await serveReceiver(({ headers }) =>
    headers["upstash-retried"] === "0" ? { status: 500 } : {},
  );
  await using world = await serveQStash();
  const { messageId } = await world.client.publishJSON({ url: destination.url, body: 1 });
  await world.client.publishJSON({ url: `${destination.url}/other`, body: 1 });
  await world.qstash.advance(60);
  const { logs } = await world.client.logs({ filter: { messageId } });
  expect(logs.map(({ state }) => state).reverse()).toEqual([
    "CREATED",
    "ACTIVE",
    "ERROR",
    "RETRY",
    "ACTIVE",
    "DELIVERED",
  ]);
});
