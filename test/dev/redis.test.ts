import { Redis } from "@upstash/redis";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { redisStandIn } from "../../dev/redis.ts";
import { createRecorder, type Recordings } from "../../dev/world/recorder.ts";
import { startWorld, type World } from "../../dev/world.ts";

const token = "local-token";
let world: World;
let recorder: Recordings;
let now: number;

beforeEach(async () => {
  now = 1_800_000_000_000;
  recorder = createRecorder(100);
  world = await startWorld({
    standIns: [redisStandIn({ token, record: recorder.record, now: () => now })],
    recorder,
    advanceClock(seconds) {
      now += seconds * 1000;
    },
  });
});

afterEach(() => world.close());

async function send(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = { authorization: `Bearer ${token}` },
): Promise<{ status: number; answer: unknown }> {
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${world.url}/redis${path}`, { method, headers, ...init });
  return { status: response.status, answer: await response.json() };
}

describe.each([true, false])("the official client, automatic pipelining %s", (pipelining) => {
  let redis: Redis;
  beforeEach(() => {
    redis = new Redis({
      url: `${world.url}/redis`,
      token,
      retry: false,
      enableTelemetry: false,
      enableAutoPipelining: pipelining,
      signal: () => AbortSignal.timeout(5_000),
    });
  });

  test("what was set is got, any text and any JSON", async () => {
    expect(await redis.set("text", "Grüße 👋 OK")).toBe("OK");
    expect(await redis.set("json", { a: [1, null] })).toBe("OK");
    expect(await redis.set("okay", "OK")).toBe("OK");
    expect(await Promise.all([redis.get("text"), redis.get("json"), redis.get("none")])).toEqual([
      "Grüße 👋 OK",
      { a: [1, null] },
      null,
    ]);
    expect(await redis.get("okay")).toBe("OK");
  });

  test("a value set with NX is set once, and taken once with GETDEL", async () => {
    expect(await redis.set("state", "first", { nx: true, ex: 600 })).toBe("OK");
    expect(await redis.set("state", "second", { nx: true, ex: 600 })).toBeNull();
    expect(await redis.ttl("state")).toBe(600);
    expect(await redis.getdel("state")).toBe("first");
    expect(await redis.getdel("state")).toBeNull();
  });

  test("XX sets only what exists and GET answers the value before", async () => {
    expect(await redis.set("key", "a", { xx: true })).toBeNull();
    expect(await redis.set("key", "a", { get: true })).toBeNull();
    expect(await redis.set("key", "b", { xx: true, get: true })).toBe("a");
    expect(await redis.set("key", "c", { nx: true, get: true })).toBe("b");
    expect(await redis.get("key")).toBe("b");
  });

  test("a key lives exactly as long as it was given", async () => {
    await redis.set("seconds", "a", { ex: 10 });
    await redis.set("millis", "b", { px: 1500 });
    await redis.set("forever", "c");
    now += 1499;
    expect(await redis.pttl("millis")).toBe(1);
    expect(await redis.ttl("seconds")).toBe(9);
    now += 1;
    expect(await redis.exists("seconds", "millis", "forever", "forever")).toBe(3);
    now += 8500;
    expect(await redis.ttl("seconds")).toBe(-2);
    expect(await redis.ttl("forever")).toBe(-1);
    expect(await redis.set("seconds", "again", { nx: true })).toBe("OK");
  });

  test("a counter counts from nothing and keeps its window", async () => {
    expect(await redis.incr("hits")).toBe(1);
    expect(await redis.expire("hits", 60)).toBe(1);
    now += 30_000;
    expect(await redis.incrby("hits", 5)).toBe(6);
    expect(await redis.expire("hits", 60, "NX")).toBe(0);
    expect(await redis.ttl("hits")).toBe(30);
    now += 30_000;
    expect(await redis.incr("hits")).toBe(1);
    expect(await redis.expire("none", 60)).toBe(0);
  });

  test("EXPIRE with no time left deletes, DEL counts what it deleted", async () => {
    await Promise.all([redis.set("a", "1"), redis.set("b", "1"), redis.set("c", "1")]);
    expect(await redis.expire("c", -1)).toBe(1);
    expect(await redis.del("a", "b", "c")).toBe(2);
  });

  test("a transaction answers each command, and one bad command undoes it all", async () => {
    expect(await redis.multi().incr("z").expire("z", 5).exec()).toEqual([1, 1]);
    await expect(redis.multi().incr("z").lpush("list", "x").exec()).rejects.toThrow("lpush");
    expect(await redis.get("z")).toBe(1);
  });

  test("an error is the client's error", async () => {
    await redis.set("word", "abc");
    await expect(redis.incr("word")).rejects.toThrow("ERR value is not an integer or out of range");
    await expect(redis.lpush("list", "x")).rejects.toThrow("ERR unknown command 'lpush'");
    await expect(redis.set("k", "v", { ex: 0 })).rejects.toThrow("invalid expire time");
    expect(await redis.ping()).toBe("PONG");
  });
});

test("the client with a wrong token gets WRONGPASS", async () => {
  const redis = new Redis({ url: `${world.url}/redis`, token: "other", retry: false });
  await expect(redis.get("a")).rejects.toThrow("WRONGPASS");
});

test("without the token it is 401, and the query may carry it", async () => {
  const refused = { status: 401, answer: { error: "WRONGPASS invalid or missing auth token" } };
  expect(await send("POST", "/", ["PING"], {})).toEqual(refused);
  expect(await send("GET", "/ping?_token=no", undefined, {})).toEqual(refused);
  expect(await send("GET", `/ping?_token=${token}`, undefined, {})).toEqual({
    status: 200,
    answer: { result: "PONG" },
  });
});

test("the path may be the command, with the body and the query as further arguments", async () => {
  expect(await send("GET", "/set/a%2Fb/v%20w/EX/10")).toMatchObject({ status: 200 });
  expect(await send("GET", "/get/a%2Fb")).toEqual({ status: 200, answer: { result: "v w" } });
  expect(await send("POST", "/set/json?EX=20", { n: 1 })).toMatchObject({ status: 200 });
  expect(await send("GET", "/get/json")).toMatchObject({ answer: { result: '{"n":1}' } });
  expect(await send("GET", "/ttl/json")).toMatchObject({ answer: { result: 20 } });
});

test("strings are base64 when asked for; OK, numbers and null are not", async () => {
  const headers = { authorization: `Bearer ${token}`, "upstash-encoding": "base64" };
  const commands = [["SET", "a", "é"], ["GET", "a"], ["INCR", "n"], ["GET", "none"], ["NOPE"]];
  expect(await send("POST", "/pipeline", commands, headers)).toEqual({
    status: 200,
    answer: [
      { result: "OK" },
      { result: "w6k=" },
      { result: 1 },
      { result: null },
      { error: "ERR unknown command 'NOPE', with args beginning with: " },
    ],
  });
});

test.each([
  [
    "an unknown command",
    ["NOPE", "x"],
    "ERR unknown command 'NOPE', with args beginning with: 'x' ",
  ],
  ["too few arguments", ["GET"], "ERR wrong number of arguments for 'get' command"],
  ["two lifetimes", ["SET", "a", "b", "EX", 1, "PX", 1], "ERR syntax error"],
  [
    "a lifetime without its number",
    ["SET", "a", "b", "EX"],
    "ERR value is not an integer or out of range",
  ],
  ["NX and XX", ["SET", "a", "b", "NX", "XX"], "ERR syntax error"],
  ["an option that does not exist", ["SET", "a", "b", "ZZ"], "ERR syntax error"],
  ["an empty command", [], "ERR failed to parse command"],
  ["no command", { GET: "a" }, "ERR failed to parse command"],
])("%s is 400 with Redis's words", async (_name, body, error) => {
  expect(await send("POST", "/", body)).toEqual({ status: 400, answer: { error } });
});

test("a batch that is no batch is 400, another method 405", async () => {
  expect((await send("POST", "/pipeline", ["GET", "a"])).status).toBe(400);
  expect((await send("POST", "/multi-exec", { a: 1 })).status).toBe(400);
  expect((await send("DELETE", "/get/a")).status).toBe(405);
});

test("every command is recorded", async () => {
  await send("POST", "/", ["set", "a", 1]);
  expect(recorder.list("redis")).toMatchObject([{ command: "SET", args: ["a", "1"] }]);
});

test("moving the world's clock expires keys", async () => {
  await send("POST", "/", ["SET", "a", "b", "EX", 60]);
  await fetch(`${world.url}/clock`, { method: "POST", body: '{"advanceSeconds":60}' });
  expect(await send("POST", "/", ["GET", "a"])).toEqual({ status: 200, answer: { result: null } });
});
