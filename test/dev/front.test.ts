import { once } from "node:events";
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { type Front, startFront } from "../../dev/front.ts";

let target: Server;
let front: Front;
let handle: RequestListener;
let seen: IncomingMessage[];

beforeEach(async () => {
  seen = [];
  handle = (_request, response) => response.end("ok");
  target = createServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
    seen.push(request);
    handle(request, response);
  });
  target.listen(0, "127.0.0.1");
  await once(target, "listening");
  const { port } = target.address() as AddressInfo;
  front = await startFront({ port: 0, target: { host: "127.0.0.1", port } });
});

afterEach(async () => {
  await front.close();
  target.closeAllConnections();
  target.close();
});

function url(path = "/"): string {
  return `http://127.0.0.1:${front.port}${path}`;
}

/** Sends bytes as they are and gives what comes back until the front closes. */
async function exchange(text: string): Promise<string> {
  const socket = connect(front.port, "127.0.0.1");
  socket.write(text, "latin1");
  return (await buffer(socket)).toString("latin1");
}

/** Name and value pairs of the only request the target got, the front's own left out. */
function pairs(request: IncomingMessage | undefined): [string, string][] {
  const raw = request?.rawHeaders ?? [];
  return raw.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name, raw[index + 1] ?? ""]] : [],
  );
}

function values(request: IncomingMessage | undefined, name: string): string[] {
  return pairs(request).flatMap(([key, value]) => (key.toLowerCase() === name ? [value] : []));
}

test("the target sees the raw path and the headers in order, duplicates kept", async () => {
  await exchange(
    "GET /a%2Fb/../c//d?x=%20&y HTTP/1.1\r\nX-One: 1\r\nHost: localhost:9\r\nx-two: a\r\n" +
      "X-Two: b\xe9\r\nConnection: close\r\n\r\n",
  );
  expect(seen[0]?.url).toBe("/a%2Fb/../c//d?x=%20&y");
  expect(pairs(seen[0]).slice(0, 4)).toEqual([
    ["X-One", "1"],
    ["Host", "localhost:9"],
    ["x-two", "a"],
    ["X-Two", "b\xe9"],
  ]);
});

test("nobody can say who they are but the front", async () => {
  const lies = ["CF-Connecting-IP", "cf-connecting-ip", "X-Real-IP", "X-Forwarded-For", "CF-Ray"];
  const headers = [...lies, "CF-IPCountry"].map((name) => `${name}: 6.6.6.6\r\n`).join("");
  await exchange(`GET / HTTP/1.1\r\nHost: localhost\r\n${headers}Connection: close\r\n\r\n`);
  expect(values(seen[0], "cf-connecting-ip")).toEqual(["127.0.0.1"]);
  for (const name of ["x-real-ip", "x-forwarded-for", "cf-ray", "cf-ipcountry"]) {
    expect(values(seen[0], name)).toEqual([]);
  }
});

test.each([
  ["127.0.0.1:1234", "127.0.0.1:1234"],
  ["localhost", "localhost"],
  ["[::1]:80", "[::1]:80"],
  ["evil.example", "the front"],
  ["localhost.evil.example:80", "the front"],
  ["127.0.0.1.evil.example", "the front"],
])("the Host %s is passed on as %s", async (host, expected) => {
  await exchange(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const own = `127.0.0.1:${front.port}`;
  expect(values(seen[0], "host")).toEqual([expected === "the front" ? own : expected]);
});

test("a host in the request line does not get past the front", async () => {
  await exchange("GET http://evil.example/a?b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  expect(seen[0]?.url).toBe("/a?b");
});

test("a 33 KB header reaches the target", async () => {
  const answer = await fetch(url(), { headers: { "x-large": "x".repeat(33_000) } });
  expect(answer.status).toBe(200);
  expect(values(seen[0], "x-large")[0]).toHaveLength(33_000);
});

test("status, reason, duplicate headers and body come back as sent", async () => {
  handle = (_request, response) => {
    response.sendDate = false;
    const headers = ["Set-Cookie", "a=1", "Set-Cookie", "b=2", "X-Case", "\xe9"];
    response.writeHead(418, "Short and stout", headers).end(Buffer.from("tea"));
  };
  const text = await exchange("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  expect(text).toMatch(/^HTTP\/1\.1 418 Short and stout\r\n/);
  expect(text).toContain("Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-Case: \xe9\r\n");
  expect(text).not.toContain("Date:");
  expect(text).toContain("tea");
});

test("HEAD, 204 and 304 have no body and do not block the connection", async () => {
  handle = (request, response) => {
    response.writeHead(Number(request.url?.slice(1)), { etag: "x" }).end();
  };
  const text = await exchange(
    "HEAD /200 HTTP/1.1\r\nHost: localhost\r\n\r\nGET /204 HTTP/1.1\r\nHost: localhost\r\n\r\n" +
      "GET /304 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
  );
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 204", "HTTP/1.1 304"]);
});

test("a large body arrives whole in both directions", async () => {
  handle = (request, response) => request.pipe(response);
  const body = Buffer.alloc(3_000_000, "abcdefg");
  const answer = await fetch(url(), { method: "POST", body });
  expect(Buffer.from(await answer.arrayBuffer()).equals(body)).toBe(true);
  expect(values(seen[0], "content-length")).toEqual(["3000000"]);
});

test("a POST without a body stays without one, and Expect is honoured", async () => {
  handle = (request, response) => request.pipe(response);
  await exchange("POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  expect(values(seen[0], "transfer-encoding")).toEqual([]);
  const text = await exchange(
    "POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n" +
      "Connection: close\r\n\r\nhi",
  );
  expect(text).toContain("HTTP/1.1 100 Continue");
  expect(text).toMatch(/hi\r\n/);
});

test("request and response bodies stream: each side answers before the other has ended", async () => {
  handle = (request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    request.on("data", (chunk) => response.write(`data: ${chunk}\n\n`));
    request.on("end", () => response.end("data: end\n\n"));
  };
  const request = httpRequest(url(), { method: "POST" });
  request.flushHeaders();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  for (const word of ["one", "two"]) {
    request.write(word);
    expect(String((await once(response, "data"))[0])).toBe(`data: ${word}\n\n`);
  }
  request.end();
  expect(String((await once(response, "data"))[0])).toBe("data: end\n\n");
});

test("a client that leaves takes its request to the target with it", async () => {
  const arrived = once(target, "request");
  handle = () => undefined;
  const leaving = new AbortController();
  const answer = fetch(url(), { signal: leaving.signal });
  const [request] = (await arrived) as [IncomingMessage];
  const gone = once(request.socket, "close");
  leaving.abort();
  await expect(answer).rejects.toThrow("abort");
  await gone;
});

test("a client that leaves during a stream ends the stream at the target", async () => {
  let ended: Promise<unknown> = Promise.reject(new Error("never asked"));
  ended.catch(() => undefined);
  handle = (_request, response) => {
    ended = once(response, "close");
    response.write("data: 1\n\n");
  };
  const leaving = new AbortController();
  await fetch(url(), { signal: leaving.signal });
  leaving.abort();
  await ended;
});

test("an answer the target cuts short is cut short for the client", async () => {
  handle = (_request, response) => {
    response.write("half", () => response.destroy());
  };
  await expect(fetch(url()).then((answer) => answer.text())).rejects.toThrow();
});

test("a target that breaks off before answering breaks off the client too", async () => {
  handle = (request) => request.socket.destroy();
  await expect(fetch(url())).rejects.toThrow();
  handle = (_request, response) => response.end("ok");
  expect((await fetch(url())).status).toBe(200);
});

test("an answer given before the body was read is passed on", async () => {
  handle = (_request, response) => response.writeHead(413).end("too large");
  const answer = await fetch(url(), { method: "POST", body: Buffer.alloc(5_000_000) });
  expect([answer.status, await answer.text()]).toEqual([413, "too large"]);
});

test("while the target is down the answer is 503 in the service's own shape", async () => {
  const { port } = target.address() as AddressInfo;
  target.close();
  const down = await fetch(url(), { method: "POST", body: Buffer.alloc(1_000_000) });
  expect(down.status).toBe(503);
  expect(await down.json()).toEqual({
    success: false,
    status: false,
    message: "The service is starting",
    error: { code: "unavailable", requestId: "" },
  });
  const socket = new WebSocket(`ws://127.0.0.1:${front.port}/`);
  const [, refusal] = await once(socket, "unexpected-response");
  expect(refusal.statusCode).toBe(503);
  refusal.destroy();
  target.listen(port, "127.0.0.1");
  await once(target, "listening");
  expect((await fetch(url())).status).toBe(200);
});

test("a taken port is a clear error", async () => {
  const { port } = target.address() as AddressInfo;
  const again = startFront({ port, target: { host: "127.0.0.1", port } });
  await expect(again).rejects.toThrow(`port ${port} is taken`);
});

/** Both ends of a WebSocket through the front; the target echoes. */
async function openSocket(path = "/live", headers: Record<string, string> = {}) {
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => "voice" });
  const upgraded = new Promise<{ server: WebSocket; request: IncomingMessage }>((resolve) => {
    target.once("upgrade", (request, socket, head) => {
      sockets.handleUpgrade(request, socket, head, (server) => {
        server.on("message", (data, binary) => server.send(data, { binary }));
        resolve({ server, request });
      });
    });
  });
  const client = new WebSocket(`ws://127.0.0.1:${front.port}${path}`, "voice", { headers });
  await once(client, "open");
  return { client, ...(await upgraded) };
}

test("a WebSocket passes through, its path, its subprotocol and its caller's address", async () => {
  const { client, request } = await openSocket("/live?t=%2F", { "cf-connecting-ip": "6.6.6.6" });
  expect(client.protocol).toBe("voice");
  expect(request.url).toBe("/live?t=%2F");
  expect(values(request, "cf-connecting-ip")).toEqual(["127.0.0.1"]);
  for (const sent of ["hello", Buffer.alloc(300_000, 7)]) {
    client.send(sent);
    const [echoed] = await once(client, "message");
    expect(Buffer.from(echoed).equals(Buffer.from(sent))).toBe(true);
  }
  client.close();
  await once(client, "close");
});

test.each([
  [4401, "key revoked"],
  [1000, "ended"],
])("a close with code %i keeps its code and reason", async (code, reason) => {
  const { client, server } = await openSocket();
  server.close(code, reason);
  const [gotCode, gotReason] = await once(client, "close");
  expect([gotCode, String(gotReason)]).toEqual([code, reason]);
});

test("an abnormal close stays abnormal, from either side", async () => {
  const first = await openSocket();
  first.server.terminate();
  expect((await once(first.client, "close"))[0]).toBe(1006);
  const second = await openSocket();
  second.client.terminate();
  expect((await once(second.server, "close"))[0]).toBe(1006);
});

test("a refused handshake comes back as an ordinary answer", async () => {
  target.on("upgrade", (_request, socket) => {
    socket.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\nX-Why: key\r\n\r\nno");
  });
  const socket = new WebSocket(`ws://127.0.0.1:${front.port}/`);
  const [, response] = await once(socket, "unexpected-response");
  expect([response.statusCode, response.headers["x-why"]]).toEqual([401, "key"]);
  expect(String(await buffer(response))).toBe("no");
});

/** A raw upgraded connection: what the target does with its end is the test's business. */
async function openTunnel(early = "") {
  const accepted = new Promise<{ server: Socket; head: Buffer }>((resolve) => {
    target.once("upgrade", (_request, socket, head) => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n");
      socket.write("Connection: Upgrade\r\n\r\nwelcome");
      resolve({ server: socket as Socket, head });
    });
  });
  const client = connect({ port: front.port, host: "127.0.0.1", allowHalfOpen: true });
  client.write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n");
  client.write(`Upgrade: websocket\r\n\r\n${early}`);
  const { server, head } = await accepted;
  return { client, server, head };
}

test("a half-closed tunnel still carries the other direction", async () => {
  const { client, server } = await openTunnel();
  client.end("last words");
  let heard = "";
  for await (const chunk of server) heard += chunk;
  expect(heard).toBe("last words");
  server.end("and the answer");
  expect(String(await buffer(client))).toMatch(/\r\n\r\nwelcomeand the answer$/);
});

test("a tunnel the target half-closed still carries the client's words", async () => {
  const { client, server } = await openTunnel();
  server.end(" and goodbye");
  expect(String(await buffer(client))).toMatch(/\r\n\r\nwelcome and goodbye$/);
  client.end("last words");
  expect(String(await buffer(server))).toBe("last words");
});

test("a connection one side resets is gone for the other", async () => {
  const first = await openTunnel();
  first.client.resetAndDestroy();
  await once(first.server.resume(), "end");
  first.server.destroy();
  const second = await openTunnel();
  second.server.resetAndDestroy();
  await once(second.client.resume(), "end");
  second.client.destroy();
});

test("bytes sent before the handshake was answered are not lost", async () => {
  const { client, server, head } = await openTunnel("too eager");
  let heard = head.toString();
  while (heard !== "too eager") heard += (await once(server, "data"))[0];
  client.destroy();
});

test("a client that leaves during the handshake takes it from the target", async () => {
  const asked = once(target, "upgrade");
  const client = connect(front.port, "127.0.0.1");
  client.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  const [, socket] = (await asked) as [IncomingMessage, Socket];
  const gone = once(socket.resume(), "end");
  client.destroy();
  await gone;
  socket.destroy();
});

test("an offer of another protocol is an ordinary request", async () => {
  const text = await exchange(
    "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n",
  );
  expect(text).toMatch(/^HTTP\/1\.1 200 OK/);
  expect(values(seen[0], "upgrade")).toEqual([]);
});

test("closing ends open sockets on both sides", async () => {
  const { client, server } = await openSocket();
  const gone = [once(client, "close"), once(server, "close")];
  await front.close();
  expect((await Promise.all(gone)).map(([code]) => code)).toEqual([1006, 1006]);
});
