import type { IncomingMessage, ServerResponse } from "node:http";
import * as z from "zod";
import { type Faults, faultSchema } from "./faults.ts";
import { BadRequest, readJson, sendJson, sendText } from "./http.ts";
import { type Inbox, inboxName, scriptSchema } from "./inbox.ts";
import type { Received, Recordings } from "./recorder.ts";

export type ControlParts = {
  names: string[];
  recorder: Recordings;
  faults: Faults;
  inbox: Inbox;
  advanceClock(seconds: number): void | Promise<void>;
};

type Route = (request: IncomingMessage, response: ServerResponse, query: string) => unknown;

/** The first segments the control port keeps for itself, so no stand-in may have these names. */
export const reservedNames = ["", "received", "faults", "clock", "inbox"];

const clockSchema = z.strictObject({ advanceSeconds: z.number().nonnegative() });

/** Answers a request meant for the control port; false when the request is for a stand-in. */
export function createControl(parts: ControlParts) {
  const routes: Record<string, Record<string, Route>> = {
    "/": { GET: (_request, response) => sendText(response, 200, overview(parts.names)) },
    "/received": receivedRoutes(parts.recorder),
    "/faults": faultRoutes(parts),
    "/clock": {
      async POST(request, response) {
        const { advanceSeconds } = await readJson(request, clockSchema);
        await parts.advanceClock(advanceSeconds);
        sendJson(response, 200, { advanceSeconds });
      },
    },
  };
  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const [path = "", query = ""] = (request.url ?? "").split("?");
    if (request.method === "PUT" && /^\/inbox\/[^/]+\/script$/.test(path)) {
      const script = await readJson(request, scriptSchema);
      parts.inbox.script(inboxName(path.slice("/inbox".length)), script);
      sendJson(response, 200, { scripted: script.responses.length });
      return true;
    }
    const methods = routes[path];
    if (!methods) return false;
    const route = methods[request.method ?? ""];
    if (route) await route(request, response, query);
    else sendText(response, 405, `Use ${Object.keys(methods).join(" or ")}`);
    return true;
  };
}

function receivedRoutes(recorder: Recordings): Record<string, Route> {
  return {
    GET(_request, response, query) {
      const wanted = [...new URLSearchParams(query)];
      const matches = (entry: Received) =>
        wanted.every(([field, value]) => String(entry[field]) === value);
      sendJson(response, 200, recorder.list().filter(matches));
    },
    DELETE(_request, response) {
      recorder.clear();
      response.writeHead(204).end();
    },
  };
}

function faultRoutes({ faults, names }: ControlParts): Record<string, Route> {
  return {
    GET: (_request, response) => sendJson(response, 200, faults.list()),
    async POST(request, response) {
      const fault = await readJson(request, faultSchema);
      if (!names.includes(fault.target) && !/^inbox\/[^/]+$/.test(fault.target)) {
        throw new BadRequest(
          `Unknown target "${fault.target}". Known: ${[...names, "inbox/<name>"].join(", ")}`,
        );
      }
      faults.add(fault);
      sendJson(response, 201, fault);
    },
    DELETE(_request, response) {
      faults.clear();
      response.writeHead(204).end();
    },
  };
}

function overview(names: string[]): string {
  return `The outside world of local development.

Stand-ins: ${names.map((name) => `/${name}/`).join(" ")}

GET    /received?kind=…&<field>=…   what they received
DELETE /received                    forget it
POST   /faults                      { target, mode: drop|delay|status|hang|garble, count,
                                      ms (delay), status (status), path?, match?: [in the body],
                                      when?: before|after }
GET    /faults                      faults still to happen
DELETE /faults                      forget them
POST   /clock                       { advanceSeconds }
ANY    /inbox/<name>                a webhook receiver
PUT    /inbox/<name>/script         { responses: [{ status?, headers?, body?, delayMs?,
                                      mode?: hang|reset|drip }], repeat? }`;
}
