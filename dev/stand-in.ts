import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/**
 * One outside party on loopback. The world serves all of them on one port, each under `/<name>/`,
 * so that faults and the record of what was received have one home.
 */
export type StandIn = {
  name: string;
  /** `path` is what follows `/<name>`, with its query: it starts with `/`. */
  handle(request: IncomingMessage, response: ServerResponse, path: string): void | Promise<void>;
  /** A WebSocket handshake below this prefix. Without it the world refuses the upgrade. */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer, path: string): void;
  /** Ends timers, sockets and child processes. */
  close?(): void | Promise<void>;
};

/** Keeps what a stand-in got, for `GET /received?kind=…` on the control port. */
export type Recorder = (kind: string, entry: Record<string, unknown>) => void;
