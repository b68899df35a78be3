import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { readJson, readText, sendJson, sendText } from "./world/http.ts";

/** What a stand-in shall do differently, once: each step serves one request and is then gone. */
export type Step = {
  /** Only for a request whose text contains this. */
  match?: string | undefined;
  /** Refuses with this status. */
  status?: number | undefined;
  delayMs?: number | undefined;
};

export const stepShape = {
  match: z.string().optional(),
  status: z.int().min(400).max(599).optional(),
  delayMs: z.number().nonnegative().optional(),
};

export type Script<T extends Step> = {
  add(steps: readonly T[]): void;
  clear(): void;
  /** The oldest step that fits, taken off the queue. */
  next(text: string): T | undefined;
  /** `POST { <key>: [steps] }` adds, `DELETE` clears. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
};

export function createScript<T extends Step>(key: string, step: z.ZodType<T>): Script<T> {
  let queue: T[] = [];
  const body = z.strictObject({ [key]: z.array(step) });
  const add = (steps: readonly T[]) => {
    queue.push(...steps);
  };
  const clear = () => {
    queue = [];
  };
  return {
    add,
    clear,
    next(text) {
      const found = queue.find((each) => each.match === undefined || text.includes(each.match));
      queue = queue.filter((each) => each !== found);
      return found;
    },
    async handle(request, response) {
      if (request.method === "DELETE") {
        clear();
        return sendJson(response, 200, { queued: 0 });
      }
      if (request.method !== "POST") return sendText(response, 405, "POST or DELETE");
      add(Object.values(await readJson(request, body)).flat());
      return sendJson(response, 200, { queued: queue.length });
    },
  };
}

/** A vendor refuses a bad body in its own words: `undefined` is one that is no JSON. */
export async function readBody(request: IncomingMessage): Promise<unknown> {
  try {
    return JSON.parse(await readText(request));
  } catch {
    return undefined;
  }
}

/** Waits, and says whether the other side is still there to be answered. */
export async function pause(response: ServerResponse, ms: number | undefined): Promise<boolean> {
  if (ms) {
    const gone = new AbortController();
    const leave = () => gone.abort();
    response.once("close", leave);
    await sleep(ms, undefined, { signal: gone.signal }).catch(() => undefined);
    response.off("close", leave);
  }
  return !response.destroyed;
}
