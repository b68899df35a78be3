import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { StandIn } from "./stand-in.ts";
import { createControl, reservedNames } from "./world/control.ts";
import { answerWithFault, createFaults, type Faults, upgradeWithFault } from "./world/faults.ts";
import { BadRequest, peekBody, sendText } from "./world/http.ts";
import { createInbox, inboxName } from "./world/inbox.ts";
import type { Recordings } from "./world/recorder.ts";
import { closer, isWebSocket, listen, responseOn } from "./world/server.ts";

export type World = {
  port: number;
  /** `http://127.0.0.1:<port>`, without a slash at the end. */
  url: string;
  /** Also closes the stand-ins. */
  close(): Promise<void>;
};

export type WorldOptions = {
  /** By default any free port. */
  port?: number;
  standIns: StandIn[];
  recorder: Recordings;
  /** Moves the stand-ins' timers forward, for `POST /clock`. */
  advanceClock(seconds: number): void | Promise<void>;
};

/**
 * Serves every outside party on one loopback port, each under `/<name>/`, and the control port's
 * own paths beside them (`GET /` lists these). Rejects when the port is taken or a name is not free.
 */
export async function startWorld(options: WorldOptions): Promise<World> {
  const { standIns, recorder, advanceClock } = options;
  const names = standIns.map((standIn) => standIn.name);
  const clash = names.find(
    (name, index) => reservedNames.includes(name) || names.indexOf(name) !== index,
  );
  if (clash !== undefined) throw new Error(`"${clash}" cannot name a stand-in: it is not free`);

  const faults = createFaults();
  const inbox = createInbox(recorder.record);
  const control = createControl({ names, recorder, faults, inbox, advanceClock });
  const find = createFinder([...standIns, inbox.standIn]);

  const server = createServer(
    { keepAliveTimeout: 120_000, shouldUpgradeCallback: isWebSocket },
    (request, response) => {
      serve(request, response).catch((error) => fail(response, error));
    },
  );
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    if (!(await control(request, response))) await route(request, response, find, faults);
  };
  server.on("upgrade", (request, socket, head) => {
    // Without a listener a reset connection would end the process.
    socket.on("error", () => socket.destroy());
    upgrade(request, socket, head, find, faults).catch(() => socket.destroy());
  });

  const closeServer = closer(server);
  const port = await listen(server, options.port ?? 0);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async close() {
      await closeServer();
      await Promise.all(standIns.map((standIn) => standIn.close?.()));
    },
  };
}

/** `target` is the name faults know it by. */
type Found = { standIn: StandIn; path: string; target: string };
type Finder = (url: string) => Found | undefined;

function createFinder(standIns: StandIn[]): Finder {
  const byName = new Map(standIns.map((standIn) => [standIn.name, standIn]));
  return (url) => {
    // Cut by hand: a URL parser would normalise what stand-ins must see as it was sent.
    const [, name = "", rest = ""] = /^\/([^/?]*)(.*)$/s.exec(url) ?? [];
    const standIn = byName.get(name);
    if (!standIn) return undefined;
    const path = rest.startsWith("/") ? rest : `/${rest}`;
    return { standIn, path, target: name === "inbox" ? `inbox/${inboxName(path)}` : name };
  };
}

async function route(
  request: IncomingMessage,
  response: ServerResponse,
  find: Finder,
  faults: Faults,
): Promise<void> {
  const found = find(request.url ?? "");
  if (!found) return sendText(response, 404, "Nothing here. GET / lists what is");
  const { standIn, path, target } = found;
  const body = faults.needsBody(target, path) ? await peekBody(request) : "";
  const fault = faults.take(target, path, body);
  const handle = (answer: ServerResponse) => standIn.handle(request, answer, path);
  await (fault ? answerWithFault(fault, request, response, handle) : handle(response));
}

async function upgrade(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  find: Finder,
  faults: Faults,
): Promise<void> {
  const found = find(request.url ?? "");
  if (!found?.standIn.upgrade) {
    return sendText(responseOn(request, socket), 404, "No WebSocket here");
  }
  const { standIn, path, target } = found;
  const fault = faults.take(target, path);
  const proceed = (stream: Duplex) => standIn.upgrade?.(request, stream, head, path);
  await (fault ? upgradeWithFault(fault, request, socket, proceed) : proceed(socket));
}

function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const status = error instanceof BadRequest ? 400 : 500;
  sendText(response, status, error instanceof Error ? error.message : String(error));
}
