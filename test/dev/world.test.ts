import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import type { StandIn } from "../../dev/stand-in.ts";
import { readText } from "../../dev/world/http.ts";
import { createRecorder, type Recordings } from "../../dev/world/recorder.ts";
import { startWorld, type World } from "../../dev/world.ts";

let world: World;
let recorder: Recordings;
let advanced: number[];
let closed: string[];
let committed: EventTarget;

beforeEach(async () => {
  recorder = createRecorder(100);
  advanced = [];
  closed = [];
  committed = new EventTarget();
  world = await startWorld({
    standIns: [echo()],
    recorder,
    advanceClock: (seconds) => void advanced.push(seconds),
  });
});

afterEach(() => world.close());

/** Answers with the path it got, echoes socket messages, fails on demand. */
function echo(): StandIn {
  const sockets = new WebSocketServer({ noServer: true });
  return {
    name: "echo",
    async handle(request, response, path) {
      recorder.record("echo", { path, method: request.method });
      if (path === "/broken") throw new Error("the stand-in broke");
      const { length } = await readText(request);
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ path, ...(length > 0 ? { length } : {}) }));
      committed.dispatchEvent(new Event("handled"));
    },
    upgrade(request, socket, head, path) {
      recorder.record("echo", { path, method: "UPGRADE" });
      sockets.handleUpgrade(request, socket, head, (client) => {
        client.on("message", (data) => client.send(`echo ${data}`));
      });
    },
    close() {
      closed.push("echo");
    },
  };
}

function call(method: string, path: string, body?: unknown): Promise<Response> {
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  return fetch(world.url + path, { method, ...init });
}

async function json(path: string): Promise<unknown> {
  return (await call("GET", path)).json();
}

/** The path exactly as given; `fetch` would normalise it. */
function getRaw(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    httpRequest({ port: world.port, host: "127.0.0.1", path }, (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve(text));
    })
      .on("error", reject)
      .end();
  });
}

function fault(body: Record<string, unknown>): Promise<Response> {
  return call("POST", "/faults", { target: "echo", count: 1, ...body });
}

async function faultsUsedUp(): Promise<void> {
  while (((await json("/faults")) as unknown[]).length > 0);
}

function openSocket(path: string): WebSocket {
  return new WebSocket(`ws://127.0.0.1:${world.port}${path}`);
}

test("a stand-in gets the rest of the path as it was sent", async () => {
  expect(JSON.parse(await getRaw("/echo/a%2Fb/../http://x//y?q=%20&z"))).toEqual({
    path: "/a%2Fb/../http://x//y?q=%20&z",
  });
  expect(JSON.parse(await getRaw("/echo?q=1"))).toEqual({ path: "/?q=1" });
});

test("an upgrade reaches the stand-in below its name", async () => {
  const socket = openSocket("/echo/live?a=%2F");
  await once(socket, "open");
  socket.send("hello");
  const [message] = await once(socket, "message");
  expect(String(message)).toBe("echo hello");
  expect(recorder.list("echo")).toMatchObject([{ method: "UPGRADE", path: "/live?a=%2F" }]);
});

test("an upgrade nobody takes is refused with 404", async () => {
  const socket = openSocket("/nobody");
  const [, response] = await once(socket, "unexpected-response");
  expect(response.statusCode).toBe(404);
  response.destroy();
});

test("an unknown name is 404, a failing stand-in 500 with its reason", async () => {
  expect((await call("GET", "/nobody/x")).status).toBe(404);
  const broken = await call("GET", "/echo/broken");
  expect([broken.status, await broken.text()]).toEqual([500, "the stand-in broke\n"]);
});

test("GET / lists the stand-ins and the control paths", async () => {
  const text = await (await call("GET", "/")).text();
  for (const part of ["/echo/", "/received", "/faults", "/clock", "/inbox/<name>"]) {
    expect(text).toContain(part);
  }
});

test("a name of the control port, or one used twice, cannot be a stand-in's", async () => {
  const start = (names: string[]) =>
    startWorld({
      standIns: names.map((name) => ({ name, handle() {} })),
      recorder,
      advanceClock() {},
    });
  await expect(start(["faults"])).rejects.toThrow('"faults"');
  await expect(start(["a", "a"])).rejects.toThrow('"a"');
});

test("a taken port is a clear error", async () => {
  const again = startWorld({ port: world.port, standIns: [], recorder, advanceClock() {} });
  await expect(again).rejects.toThrow(`port ${world.port} is taken`);
});

test("closing ends open sockets and closes the stand-ins", async () => {
  const socket = openSocket("/echo/");
  await once(socket, "open");
  const gone = once(socket, "close");
  await world.close();
  await gone;
  expect(closed).toEqual(["echo"]);
});

test("what was received is listed by any recorded field, oldest first, until deleted", async () => {
  recorder.record("mail", { to: "a", size: 1 });
  recorder.record("sms", { to: "a" });
  recorder.record("mail", { to: "b", size: 2 });
  expect(await json("/received")).toHaveLength(3);
  expect(await json("/received?kind=mail")).toMatchObject([{ to: "a" }, { to: "b" }]);
  expect(await json("/received?kind=mail&size=2")).toEqual([
    { at: expect.stringMatching(/^\d{4}-.*Z$/), kind: "mail", to: "b", size: 2 },
  ]);
  expect((await call("DELETE", "/received")).status).toBe(204);
  expect(await json("/received")).toEqual([]);
});

test("the record keeps only the newest entries", () => {
  const small = createRecorder(2);
  for (const number of [1, 2, 3]) small.record("n", { number });
  expect(small.list("n")).toMatchObject([{ number: 2 }, { number: 3 }]);
});

test("the clock advances by the seconds asked for", async () => {
  expect((await call("POST", "/clock", { advanceSeconds: 90 })).status).toBe(200);
  expect(advanced).toEqual([90]);
  expect((await call("POST", "/clock", { advanceSeconds: -1 })).status).toBe(400);
});

test("bad control input is 400 with the reason, a wrong method 405", async () => {
  const unknown = await fault({ target: "nobody", mode: "drop" });
  expect([unknown.status, await unknown.text()]).toEqual([
    400,
    'Unknown target "nobody". Known: echo, inbox/<name>\n',
  ]);
  const noMs = await fault({ mode: "delay" });
  expect([noMs.status, await noMs.text()]).toEqual([400, expect.stringContaining("ms")]);
  const noJson = await fetch(`${world.url}/faults`, { method: "POST", body: "{" });
  expect([noJson.status, await noJson.text()]).toEqual([400, "The body is not JSON\n"]);
  expect((await call("PUT", "/received", {})).status).toBe(405);
});

test("a fault applies to its count of matching requests and is listed until used up", async () => {
  await fault({ mode: "status", status: 503, count: 2, path: "/pay" });
  expect((await call("GET", "/echo/other")).status).toBe(200);
  const first = await call("POST", "/echo/pay/1", { big: "x".repeat(100_000) });
  expect([first.status, await first.json()]).toEqual([503, { error: "injected fault" }]);
  expect(await json("/faults")).toMatchObject([{ target: "echo", count: 1, path: "/pay" }]);
  expect((await call("GET", "/echo/pay/2")).status).toBe(503);
  expect((await call("GET", "/echo/pay/3")).status).toBe(200);
  expect(await json("/faults")).toEqual([]);
  expect(recorder.list("echo")).toMatchObject([{ path: "/other" }, { path: "/pay/3" }]);
});

test("a fault with a match waits for a body that holds all of it, and leaves that body whole", async () => {
  await fault({ mode: "status", status: 503, count: 1, match: ["org_1", "update"] });
  const long = "x".repeat(300_000);
  for (const body of ["org_1", "update", `org_2 update ${long}`]) {
    const answer = await call("POST", "/echo/sql", body);
    expect(await answer.json()).toMatchObject({ length: body.length + 2 });
  }
  expect((await call("POST", "/echo/sql", `update ${long} org_1`)).status).toBe(503);
  expect((await call("POST", "/echo/sql", "update org_1")).status).toBe(200);
});

test("deleted faults do not happen", async () => {
  await fault({ mode: "drop" });
  expect((await call("DELETE", "/faults")).status).toBe(204);
  expect((await call("GET", "/echo/")).status).toBe(200);
});

test("a request dropped before never reaches the stand-in", async () => {
  await fault({ mode: "drop" });
  await expect(call("GET", "/echo/x")).rejects.toThrow();
  expect(recorder.list("echo")).toEqual([]);
});

test("a request dropped after was handled, only its answer is lost", async () => {
  await fault({ mode: "drop", when: "after" });
  await expect(call("GET", "/echo/x")).rejects.toThrow();
  expect(recorder.list("echo")).toMatchObject([{ path: "/x" }]);
});

test("an answer can be replaced, garbled or delayed after the work was done", async () => {
  await fault({ mode: "status", status: 500, when: "after" });
  expect((await call("GET", "/echo/1")).status).toBe(500);
  await fault({ mode: "garble", when: "after" });
  await expect(call("GET", "/echo/2").then((answer) => answer.json())).rejects.toThrow(SyntaxError);
  await fault({ mode: "delay", ms: 1, when: "after" });
  const late = await call("GET", "/echo/3");
  expect([late.status, await late.json()]).toEqual([200, { path: "/3" }]);
  expect(recorder.list("echo")).toHaveLength(3);
});

test("an answer garbled before is 200 without JSON and without the stand-in", async () => {
  await fault({ mode: "garble" });
  const answer = await call("GET", "/echo/");
  expect(answer.status).toBe(200);
  await expect(answer.json()).rejects.toThrow(SyntaxError);
  expect(recorder.list("echo")).toEqual([]);
});

test("a delayed request is handled whole, only later", async () => {
  await fault({ mode: "delay", ms: 20 });
  const answer = await call("POST", "/echo/late", { text: "x" });
  expect(await answer.json()).toEqual({ path: "/late", length: 12 });
});

test("a hanging request ends when the client leaves, with or without the work done", async () => {
  for (const when of ["before", "after"]) {
    await fault({ mode: "hang", when });
    const handled = when === "after" ? once(committed, "handled") : Promise.resolve();
    const client = connect(world.port, "127.0.0.1");
    client.write(`GET /echo/${when} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await handled;
    await faultsUsedUp();
    client.destroy();
    await once(client, "close");
    expect(client.bytesRead).toBe(0);
  }
  expect(recorder.list("echo")).toMatchObject([{ path: "/after" }]);
});

test.each([
  ["drop", "before", []],
  ["drop", "after", [{ method: "UPGRADE" }]],
])("a handshake dropped %s: %s, the socket never opens", async (mode, when, received) => {
  await fault({ mode, when });
  const socket = openSocket("/echo/");
  const opened: unknown[] = [];
  socket.on("open", () => opened.push(1));
  await once(socket, "error");
  expect(opened).toEqual([]);
  expect(recorder.list("echo")).toMatchObject(received);
});

test("a handshake can be refused with a status or delayed", async () => {
  await fault({ mode: "status", status: 429 });
  const refused = openSocket("/echo/");
  const [, response] = await once(refused, "unexpected-response");
  expect(response.statusCode).toBe(429);
  response.destroy();
  await fault({ mode: "delay", ms: 5 });
  const late = openSocket("/echo/");
  await once(late, "open");
  late.terminate();
});

test("a client that resets a hanging handshake does no harm", async () => {
  await fault({ mode: "hang" });
  const client = connect(world.port, "127.0.0.1");
  client.write(
    "GET /echo/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
  );
  await faultsUsedUp();
  client.resetAndDestroy();
  await once(client, "close");
  expect((await call("GET", "/echo/")).status).toBe(200);
});

test("an inbox records every request and thanks for it", async () => {
  const answer = await fetch(`${world.url}/inbox/shop?x=1`, {
    method: "PUT",
    headers: { "x-signature": "abc" },
    body: '{"a": "é"}',
  });
  expect([answer.status, await answer.json()]).toEqual([200, { received: true }]);
  await call("POST", "/inbox/other", {});
  expect(await json("/received?kind=inbox&name=shop")).toEqual([
    {
      at: expect.any(String),
      kind: "inbox",
      name: "shop",
      method: "PUT",
      path: "/shop?x=1",
      headers: expect.objectContaining({ "x-signature": "abc" }),
      body: '{"a": "é"}',
    },
  ]);
});

test("a scripted inbox answers in order, then as usual", async () => {
  const script = {
    responses: [
      { status: 500, body: "no", headers: { "x-a": "b" } },
      { status: 302, delayMs: 1 },
    ],
  };
  const scripted = await call("PUT", "/inbox/shop/script", script);
  expect(await scripted.json()).toEqual({ scripted: 2 });
  const first = await call("POST", "/inbox/shop", {});
  expect([first.status, first.headers.get("x-a"), await first.text()]).toEqual([500, "b", "no"]);
  expect((await call("POST", "/inbox/other", {})).status).toBe(200);
  expect((await call("POST", "/inbox/shop", {})).status).toBe(302);
  expect((await call("POST", "/inbox/shop", {})).status).toBe(200);
});

test("a repeating script starts over, an empty one ends it", async () => {
  const responses = [{ status: 500 }, { status: 200 }];
  await call("PUT", "/inbox/shop/script", { responses, repeat: true });
  const seen: number[] = [];
  for (let turn = 0; turn < 4; turn += 1) seen.push((await call("POST", "/inbox/shop")).status);
  expect(seen).toEqual([500, 200, 500, 200]);
  await call("PUT", "/inbox/shop/script", { responses: [] });
  expect((await call("POST", "/inbox/shop")).status).toBe(200);
  expect((await call("PUT", "/inbox/shop/script", { responses: [{ code: 1 }] })).status).toBe(400);
});

test("a scripted inbox can reset the connection, drip its body or hang", async () => {
  const responses = [{ mode: "reset" }, { mode: "drip", delayMs: 1, body: "é!" }, { mode: "hang" }];
  await call("PUT", "/inbox/shop/script", { responses });
  await expect(call("POST", "/inbox/shop", {})).rejects.toThrow();
  expect(await (await call("POST", "/inbox/shop", {})).text()).toBe("é!");
  const leaving = new AbortController();
  const hanging = fetch(`${world.url}/inbox/shop`, { signal: leaving.signal });
  while (recorder.list("inbox").length < 3) await call("GET", "/received");
  leaving.abort();
  await expect(hanging).rejects.toThrow("abort");
});

test("a fault on one inbox leaves the others and its script alone", async () => {
  await fault({ target: "inbox/shop", mode: "drop", when: "after" });
  await call("PUT", "/inbox/shop/script", { responses: [{ status: 201 }, { status: 202 }] });
  expect((await call("POST", "/inbox/other")).status).toBe(200);
  await expect(call("POST", "/inbox/shop")).rejects.toThrow();
  expect((await call("POST", "/inbox/shop")).status).toBe(202);
  expect(await json("/received?kind=inbox&name=shop")).toHaveLength(2);
});
