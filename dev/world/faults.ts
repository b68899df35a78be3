import type { IncomingMessage, ServerResponse } from "node:http";
import { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { sendJson } from "./http.ts";
import { responseOn } from "./server.ts";

const common = {
  target: z.string(),
  /** How many requests it still disturbs. */
  count: z.int().positive(),
  /** Disturbs only requests whose path below the target's name contains this. */
  path: z.string().optional(),
  /** Disturbs only requests whose body contains all of these; never a WebSocket. */
  match: z.array(z.string()).min(1).optional(),
  /** `after`: the stand-in does its work first and only its answer is disturbed. */
  when: z.enum(["before", "after"]).default("before"),
};

export const faultSchema = z.discriminatedUnion("mode", [
  z.strictObject({ ...common, mode: z.enum(["drop", "hang", "garble"]) }),
  z.strictObject({ ...common, mode: z.literal("delay"), ms: z.int().nonnegative() }),
  z.strictObject({ ...common, mode: z.literal("status"), status: z.int().min(200).max(599) }),
]);

export type Fault = z.infer<typeof faultSchema>;

export type Faults = {
  add(fault: Fault): void;
  list(): Fault[];
  clear(): void;
  /** Whether the body must be known before a fault can be chosen for this request. */
  needsBody(target: string, path: string): boolean;
  /** The oldest fault meant for this request, used up by one. */
  take(target: string, path: string, body?: string): Fault | undefined;
};

export function createFaults(): Faults {
  let faults: Fault[] = [];
  const aimedAt = (target: string, path: string) => (fault: Fault) =>
    fault.target === target && path.includes(fault.path ?? "");
  return {
    add(fault) {
      faults.push(fault);
    },
    list: () => faults,
    clear() {
      faults = [];
    },
    needsBody: (target, path) =>
      faults.filter(aimedAt(target, path)).some((fault) => fault.match !== undefined),
    take(target, path, body = "") {
      const fault = faults
        .filter(aimedAt(target, path))
        .find(({ match }) => match?.every((part) => body.includes(part)) ?? true);
      if (!fault) return undefined;
      fault.count -= 1;
      if (fault.count === 0) faults = faults.filter((other) => other !== fault);
      return fault;
    },
  };
}

/** Lets `handle` answer the request, disturbed by the fault. */
export async function answerWithFault(
  fault: Fault,
  request: IncomingMessage,
  response: ServerResponse,
  handle: (response: ServerResponse) => void | Promise<void>,
): Promise<void> {
  if (fault.when === "after") {
    const answer = await answerIntoMemory(request, handle);
    if (fault.mode !== "delay") return disturb(fault, response);
    await sleep(fault.ms, undefined, { ref: false });
    request.socket.end(answer);
    return;
  }
  if (fault.mode !== "delay") {
    request.resume();
    return disturb(fault, response);
  }
  await sleep(fault.ms, undefined, { ref: false });
  if (!request.socket.destroyed) await handle(response);
}

/**
 * Lets `proceed` take the WebSocket handshake, disturbed by the fault. A delay holds the handshake
 * back whichever side of it was asked for: the caller cannot tell them apart.
 */
export async function upgradeWithFault(
  fault: Fault,
  request: IncomingMessage,
  socket: Duplex,
  proceed: (socket: Duplex) => void,
): Promise<void> {
  if (fault.mode === "delay") {
    await sleep(fault.ms, undefined, { ref: false });
    if (!socket.destroyed) proceed(socket);
  } else if (fault.when === "before") {
    disturb(fault, responseOn(request, socket));
  } else {
    const sink = createSink(() => undefined);
    socket.once("close", () => sink.destroy());
    sink.once("answer", () => disturb(fault, responseOn(request, socket)));
    proceed(sink);
  }
}

function disturb(fault: Exclude<Fault, { mode: "delay" }>, response: ServerResponse): void {
  if (fault.mode === "drop") response.socket?.destroy();
  if (fault.mode === "status") sendJson(response, fault.status, { error: "injected fault" });
  if (fault.mode === "garble") {
    response.writeHead(200, { "content-type": "application/json" }).end('{"garbled": \u0000\u00ff');
  }
}

/** A stream to answer into that nobody is behind. It emits `answer` at the first byte. */
function createSink(onChunk: (chunk: Buffer) => void): Duplex {
  const sink = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      sink.emit("answer");
      onChunk(chunk);
      done();
    },
  });
  return sink;
}

/** The whole answer as it would have gone over the wire, status line included. */
async function answerIntoMemory(
  request: IncomingMessage,
  handle: (response: ServerResponse) => void | Promise<void>,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const sink = createSink((chunk) => chunks.push(chunk));
  const ended = new Promise((resolve) => {
    sink.once("finish", resolve);
    sink.once("close", resolve);
  });
  request.socket.once("close", () => sink.destroy());
  await handle(responseOn(request, sink));
  await ended;
  return Buffer.concat(chunks);
}
