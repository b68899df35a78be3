import {
  Agent,
  type ClientRequest,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingMessage,
  type ServerResponse,
} from "node:http";
import { connect, type Socket } from "node:net";
import { type Duplex, pipeline } from "node:stream";
import { sendJson } from "./world/http.ts";
import { closer, isWebSocket, listen, responseOn } from "./world/server.ts";

export type Front = { port: number; close(): Promise<void> };

export type FrontOptions = {
  /** 0 takes any free port. */
  port: number;
  target: { host: string; port: number };
};

/** Beyond Node's usual 16 KB, so that an oversized header meets the service and not the proxy. */
const maxHeaderSize = 64 * 1024;

/**
 * The edge of local development: passes everything on to the target, but says itself who is
 * calling. Without it a caller's own `CF-Connecting-IP` would be believed, which in production
 * Cloudflare overwrites. Rejects with "port N is taken".
 */
export async function startFront({ port, target }: FrontOptions): Promise<Front> {
  // A server closes idle connections after some seconds; dropping ours before it does keeps a
  // request from being sent down a connection that is just being closed.
  const agent = new Agent({ keepAlive: true, timeout: 2_000 });
  const server = createServer({ maxHeaderSize, shouldUpgradeCallback: isWebSocket });
  const closeServer = closer(server);
  const frontPort = await listen(server, port);

  server.on("request", (request, response) => {
    const upstream = httpRequest({ ...head(request, target, frontPort, hopByHop), agent });
    forward(request, response, upstream);
  });
  server.on("upgrade", (request, socket: Socket, early) => {
    const upstream = httpRequest({
      ...head(request, target, frontPort, []),
      createConnection: () => connect({ ...target, allowHalfOpen: true, noDelay: true }),
    });
    tunnel(request, socket, early, upstream);
  });

  return {
    port: frontPort,
    async close() {
      await closeServer();
      agent.destroy();
    },
  };
}

/** These describe one connection, and the front has two: the caller's and the target's. */
const hopByHop = ["connection", "keep-alive", "proxy-connection", "upgrade", "expect"];

/** What callers may not say about themselves. */
const spoofable = ["cf-connecting-ip", "x-real-ip", "x-forwarded-for", "cf-ray", "cf-ipcountry"];

const loopbackHost = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i;

const bodiless = ["GET", "HEAD", "DELETE", "OPTIONS", "TRACE"];

/** The request as it goes on to the target. */
function head(
  request: IncomingMessage,
  target: FrontOptions["target"],
  frontPort: number,
  dropped: string[],
) {
  const { method = "GET", rawHeaders, socket, url = "/" } = request;
  // A request line may name a whole URL, whose host would count for more than the Host header.
  const path = url.replace(/^https?:\/\/[^/]*/i, "") || "/";
  const headers = mapHeaders(rawHeaders, (name, value) => {
    if (dropped.includes(name) || spoofable.includes(name)) return undefined;
    return name !== "host" || loopbackHost.test(value) ? value : `127.0.0.1:${frontPort}`;
  });
  headers.push("CF-Connecting-IP", (socket.remoteAddress ?? "").replace(/^::ffff:/i, ""));
  const sent = request.headers;
  if (sent.host === undefined) headers.push("Host", `127.0.0.1:${frontPort}`);
  // Otherwise Node would give a POST without a body one of no chunks.
  const framed = sent["content-length"] !== undefined || sent["transfer-encoding"] !== undefined;
  if (!framed && !bodiless.includes(method)) headers.push("Content-Length", "0");
  return { ...target, method, path, headers, maxHeaderSize };
}

/**
 * Names and values in turn, as Node gives them: in order, duplicates kept. `change` gets the name
 * in lower case; undefined drops the header.
 */
function mapHeaders(
  raw: string[],
  change: (name: string, value: string) => string | undefined,
): string[] {
  const mapped: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const [name = "", value = ""] = raw.slice(index, index + 2);
    const changed = change(name.toLowerCase(), value);
    if (changed !== undefined) mapped.push(name, changed);
  }
  return mapped;
}

function forward(
  request: IncomingMessage,
  response: ServerResponse,
  upstream: ClientRequest,
): void {
  upstream.on("response", (answer) => respond(answer, response));
  upstream.on("error", (error) => refuse(response, error));
  // The body has nowhere to go any more, but the caller must get to the end of sending it.
  upstream.on("close", () => request.unpipe(upstream).resume());
  response.on("close", () => upstream.destroy());
  sendHead(upstream);
  request.pipe(upstream);
}

function respond(answer: IncomingMessage, response: ServerResponse): void {
  response.sendDate = false;
  const headers = mapHeaders(answer.rawHeaders, (name, value) =>
    hopByHop.includes(name) || name === "transfer-encoding" ? undefined : value,
  );
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, headers);
  sendHead(response);
  // Destroys whichever is left when the other breaks off, so a cut answer stays a cut one.
  pipeline(answer, response, () => undefined);
}

/** Without waiting for the body. Node's own `flushHeaders` would write bytes above 127 as UTF-8. */
function sendHead(message: OutgoingMessage): void {
  message.write("", "latin1");
}

/** Only a target that could not be reached is "starting"; one that broke off may have acted. */
function refuse(response: ServerResponse, error: NodeJS.ErrnoException): void {
  if (response.headersSent) return;
  if (error.code !== "ECONNREFUSED") {
    response.destroy();
    return;
  }
  sendJson(response, 503, {
    success: false,
    status: false,
    message: "The service is starting",
    error: { code: "unavailable", requestId: "" },
  });
}

function tunnel(
  request: IncomingMessage,
  socket: Socket,
  early: Buffer,
  upstream: ClientRequest,
): void {
  const leave = () => upstream.destroy();
  socket.on("error", leave).on("end", leave).on("close", leave);
  upstream.on("response", (answer) => respond(answer, responseOn(request, socket)));
  upstream.on("error", (error) => {
    if (!socket.destroyed) refuse(responseOn(request, socket), error);
  });
  upstream.on("upgrade", (answer, upstreamSocket: Socket, upstreamEarly) => {
    socket.off("end", leave).off("close", leave).setNoDelay(true);
    const lines = [`HTTP/1.1 101 ${answer.statusMessage}`, ...headerLines(answer.rawHeaders)];
    socket.write(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
    upstreamSocket.unshift(upstreamEarly);
    socket.unshift(early);
    join(socket, upstreamSocket);
    join(upstreamSocket, socket);
  });
  upstream.end();
}

function headerLines(raw: string[]): string[] {
  return raw.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${raw[index + 1]}`] : []));
}

/** One direction. Half-closing passes through; an abnormal close takes the other side with it. */
function join(from: Duplex, to: Duplex): void {
  from.pipe(to);
  from.on("error", () => to.destroy());
  from.on("close", () => {
    if (!from.readableEnded) to.destroy();
  });
}
