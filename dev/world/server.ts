import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Listens on loopback only and gives the port. A port in use rejects with "port N is taken". */
export function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(error.code === "EADDRINUSE" ? new Error(`port ${port} is taken`) : error),
    );
    server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

/**
 * A function that ends the server together with every connection it accepted. Call it before the
 * server listens: Node forgets a socket once it is upgraded, so they are counted here.
 */
export function closer(server: Server): () => Promise<void> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
}

/** Only WebSockets are upgraded; an offer of, say, `h2c` is answered as the ordinary request it is. */
export function isWebSocket(request: IncomingMessage): boolean {
  return request.headers.upgrade?.toLowerCase() === "websocket";
}

/** An ordinary answer on a bare stream: a refused upgrade has a socket but no response of its own. */
export function responseOn(request: IncomingMessage, stream: Duplex): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  // Node types the parameter as a TCP socket, but only ever writes to it.
  response.assignSocket(stream as Socket);
  response.once("finish", () => stream.end());
  return response;
}
