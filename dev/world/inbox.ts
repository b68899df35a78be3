import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Recorder, StandIn } from "../stand-in.ts";
import { readText } from "./http.ts";

const scriptedResponse = z.strictObject({
  status: z.int().min(200).max(599).default(200),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string().default('{"received":true}'),
  /** Time before the answer; with `drip` the time between two bytes of the body, by default 1,000. */
  delayMs: z.int().nonnegative().optional(),
  /** `hang` never answers, `reset` resets the connection, `drip` sends the body byte by byte. */
  mode: z.enum(["hang", "reset", "drip"]).optional(),
});

export const scriptSchema = z.strictObject({
  responses: z.array(scriptedResponse),
  /** Start over after the last response instead of going back to the default answer. */
  repeat: z.boolean().default(false),
});

type ScriptedResponse = z.infer<typeof scriptedResponse>;
type Script = z.infer<typeof scriptSchema>;

export type Inbox = {
  standIn: StandIn;
  /** Replaces what was scripted for that receiver. */
  script(name: string, script: Script): void;
};

/** Webhook receivers of any name, below `/inbox/<name>`. */
export function createInbox(record: Recorder): Inbox {
  const scripts = new Map<string, Script>();
  const next = (name: string): ScriptedResponse => {
    const script = scripts.get(name);
    const response = script?.responses.shift();
    if (script?.repeat && response) script.responses.push(response);
    return response ?? scriptedResponse.parse({});
  };
  return {
    standIn: {
      name: "inbox",
      async handle(request, response, path) {
        const name = inboxName(path);
        const body = await readText(request);
        record("inbox", { name, method: request.method, path, headers: request.headers, body });
        await answer(next(name), request, response);
      },
    },
    script(name, script) {
      scripts.set(name, script);
    },
  };
}

/** The receiver a path below `/inbox` is for. */
export function inboxName(path: string): string {
  return /^\/([^/?]*)/.exec(path)?.[1] ?? "";
}

async function answer(
  scripted: ScriptedResponse,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { status, headers, body, delayMs, mode } = scripted;
  if (mode !== "drip") await sleep(delayMs ?? 0, undefined, { ref: false });
  if (mode === "hang") return;
  if (mode === "reset") {
    request.socket.resetAndDestroy();
    return;
  }
  response.writeHead(status, { "content-type": "application/json", ...headers });
  if (mode === "drip") await drip(response, body, delayMs ?? 1000);
  else response.end(body);
}

async function drip(response: ServerResponse, body: string, intervalMs: number): Promise<void> {
  response.flushHeaders();
  for (const byte of Buffer.from(body)) {
    await sleep(intervalMs, undefined, { ref: false });
    if (response.destroyed) return;
    response.write(Buffer.of(byte));
  }
  response.end();
}
