import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

export type Hit = { path: string; body: string; headers: Record<string, string>; at: number };
type Behaviour = (request: IncomingMessage, response: ServerResponse) => void;

/** 50 MB of nothing, in some 50 kB. */
const BOMB = gzipSync(Buffer.alloc(50 * 1024 * 1024));

/** How a receiver may misbehave: the first segment of its path says it. */
const behaviours: Record<string, Behaviour> = {
  ok: (_, response) => response.end("thanks"),
  hang: () => undefined,
  drip(_, response) {
    response.writeHead(200, { "content-length": "60" }).flushHeaders();
    const timer = setInterval(() => response.write("."), 1_000).unref();
    response.once("close", () => clearInterval(timer));
  },
  huge: (_, response) => response.end("x".repeat(10_000_000)),
  bomb: (_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(BOMB),
  redirect: (_, response) =>
    response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data/" }).end(),
  reset: (request) => request.socket.resetAndDestroy(),
  fail: (_, response) => response.writeHead(500).end("not today"),
};

export type Receiver = {
  origin: string;
  hits(path: string): Hit[];
  close(): Promise<void>;
};

/** A customer's server on loopback: `POST /<behaviour>/<anything>`. */
export async function startReceiver(): Promise<Receiver> {
  const hits: Hit[] = [];
  const server = createServer((request, response) => {
    const at = Date.now();
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const path = request.url ?? "";
      const headers = request.headers as Record<string, string>;
      hits.push({ path, body: Buffer.concat(chunks).toString(), headers, at });
      behaviours[path.split("/")[1] ?? ""]?.(request, response);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hits: (path) => hits.filter((hit) => hit.path === path),
    async close() {
      server.closeAllConnections();
      await once(server.close(), "close");
    },
  };
}
