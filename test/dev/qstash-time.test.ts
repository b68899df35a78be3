import { expect, test } from "vitest";
import { serveQStash, serveReceiver } from "./qstash-support.ts";

test("a delayed message arrives when its delay has passed, not before", async () => {
  await using destination = await serveReceiver();
  await using world = await serveQStash();
  await world.client.publishJSON({ url: destination.url, body: 1, delay: 60 });
  await world.qstash.advance(50);
  expect(destination.received).toHaveLength(0);
  await world.qstash.advance(10);
  expect(destination.received).toHaveLength(1);
});

test("a delayed message arrives by the passing of real time alone", async () => {
  await using destination = await serveReceiver();
  await using world = await serveQStash();
  await world.client.publishJSON({
    url: destination.url,
    body: 1,
    headers: { "Upstash-Delay": "30ms" },
  });
  await destination.arrived(1);
});

test("not-before is on the caller's clock, also after the queue's clock was moved", async () => {
  await using destination = await serveReceiver();
  await using world = await serveQStash();
  await world.qstash.advance(86_400);
  const notBefore = Math.floor(Date.now() / 1000) + 600;
  await world.client.publishJSON({ url: destination.url, body: 1, notBefore, delay: 1 });
  await world.qstash.advance(590);
  expect(destination.received).toHaveLength(0);
  await world.qstash.advance(10);
  expect(destination.received).toHaveLength(1);
});

test("advancing past several moments delivers in due order, retries among them", async () => {
  let failed = false;
  await using destination = await serveReceiver(({ body }) => {
    if (body !== "10" || failed) return {};
    failed = true;
    return { status: 503 };
  });
  await using world = await serveQStash();
  for (const delay of [30, 10, 20]) {
    const retryDelay = "15000";
    await world.client.publishJSON({ url: destination.url, body: delay, delay, retryDelay });
  }
  await world.qstash.advance(60);
  expect(destination.received.map(({ body }) => body)).toEqual(["10", "20", "10", "30"]);
});

test("without other instructions the first retries come after 12 s and 148 s", async () => {
  await using destination = await serveReceiver(() => ({ status: 500 }));
  await using world = await serveQStash();
  await world.client.publishJSON({ url: destination.url, body: 1, retries: 2 });
  const attemptsAfter = async (seconds: number) => {
    await world.qstash.advance(seconds);
    return destination.received.map(({ headers }) => headers["upstash-retried"]);
  };
  expect(await attemptsAfter(9)).toEqual(["0"]);
  expect(await attemptsAfter(4)).toEqual(["0", "1"]);
  expect(await attemptsAfter(140)).toEqual(["0", "1"]);
  expect(await attemptsAfter(10)).toEqual(["0", "1", "2"]);
  expect(await attemptsAfter(86_400)).toEqual(["0", "1", "2"]);
});

test("a retry-delay expression decides when the next attempt is made", async () => {
  await using destination = await serveReceiver(() => ({ status: 500 }));
  await using world = await serveQStash();
  const retryDelay = "min(60000, 5000 * pow(3, retried))";
  await world.client.publishJSON({ url: destination.url, body: 1, retryDelay });
  const counts: number[] = [];
  for (const seconds of [2, 5, 9, 6, 38, 7]) {
    await world.qstash.advance(seconds);
    counts.push(destination.received.length);
  }
  expect(counts).toEqual([1, 2, 2, 3, 3, 4]);
});

test("Retry-After of the receiver wins over the expression", async () => {
  await using destination = await serveReceiver(({ headers }) =>
    headers["upstash-retried"] === "0" ? { status: 503, headers: { "Retry-After": "40" } } : {},
  );
  await using world = await serveQStash();
  await world.client.publishJSON({ url: destination.url, body: 1, retryDelay: "1000" });
  await world.qstash.advance(30);
  expect(destination.received).toHaveLength(1);
  await world.qstash.advance(10);
  expect(destination.received).toHaveLength(2);
});

test("a receiver that does not answer within the timeout is tried again", async () => {
  await using destination = await serveReceiver(({ headers }) =>
    headers["upstash-retried"] === "0" ? "hold" : {},
  );
  await using world = await serveQStash();
  const headers = { "Upstash-Timeout": "20ms" };
  await world.client.publishJSON({ url: destination.url, body: 1, headers, retryDelay: "1000" });
  await world.qstash.advance(2);
  expect(world.attempts[0]).toMatchObject({ retried: 0, status: 0, error: "no answer in 20 ms" });
  expect(world.attempts[1]).toMatchObject({ retried: 1 });
});

test("a flow key with parallelism 1 has one message in flight and holds up no other", async () => {
  await using destination = await serveReceiver(({ path }) => (path === "/slow" ? "hold" : {}));
  await using world = await serveQStash();
  const flowControl = { key: "host", parallelism: 1 };
  for (const path of ["/slow", "/next"]) {
    await world.client.publishJSON({ url: destination.url + path, body: 1, flowControl });
  }
  await destination.arrived(1);
  const headers = { "Upstash-Delay": "20ms" };
  await world.client.publishJSON({ url: `${destination.url}/free`, body: 1, headers });
  await destination.arrived(2);
  expect(destination.received.map(({ path }) => path)).toEqual(["/slow", "/free"]);
  destination.received[0]?.response.end();
  await world.qstash.idle();
  expect(destination.received.map(({ path }) => path)).toEqual(["/slow", "/free", "/next"]);
});

test("a flow key with a rate starts that many in each period", async () => {
  await using destination = await serveReceiver();
  await using world = await serveQStash();
  const flowControl = { key: "host", rate: 2, period: "1m" } as const;
  for (const body of [1, 2, 3, 4, 5]) {
    await world.client.publishJSON({ url: destination.url, body, flowControl });
  }
  const counts: number[] = [];
  for (const seconds of [0, 50, 10, 60]) {
    await world.qstash.advance(seconds);
    counts.push(destination.received.length);
  }
  expect(counts).toEqual([2, 2, 4, 5]);
});
