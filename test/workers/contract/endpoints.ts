import { exports } from "cloudflare:workers";
import { expect } from "vitest";
import * as z from "zod";
import { createApp } from "../../../src/app.ts";
import { ErrorBody } from "../../../src/http/envelope.ts";
import { type Endpoint, endpointsOf, failuresOf } from "../../../src/http/openapi.ts";
import { statusOf, wireCode } from "../../../src/http/refusal.ts";
import type { Answer } from "../../support/worker/client.ts";

const { routes } = createApp(() => {
  throw new Error("only the routes are read");
});

/** Every endpoint there is, read from the routes: a new one is tested without a line here. */
export const endpoints = endpointsOf(routes).map((endpoint) => ({
  ...endpoint,
  name: `${endpoint.method} ${endpoint.path}`,
  takesId: endpoint.path.includes(":"),
  body: endpoint.inputs.find(({ target }) => target === "json")?.schema,
  query: endpoint.inputs.find(({ target }) => target === "query")?.schema,
}));
export type Tested = (typeof endpoints)[number];

export const UNKNOWN_ID = "nothing_00000000000000000000000000";

/** Loopback, so that the address of a call's gateway can be made of it. */
const ORIGIN = "http://127.0.0.1";

export type Sent = {
  key?: string | undefined;
  id?: string;
  query?: string;
  json?: unknown;
  raw?: string | Uint8Array;
  contentType?: string | null;
  headers?: Record<string, string>;
};

/** Sends to an endpoint; every `:parameter` of its path becomes `id`, as it stands. */
export function send(endpoint: Pick<Endpoint, "method" | "path">, sent: Sent): Promise<Answer> {
  const path = endpoint.path.replace(/:\w+/g, () => sent.id ?? UNKNOWN_ID);
  return fetchService(endpoint.method, `${path}${sent.query ? `?${sent.query}` : ""}`, sent);
}

export async function fetchService(
  method: string,
  path: string,
  { key, json, raw, contentType, headers: more }: Sent = {},
): Promise<Answer> {
  const headers = new Headers(more);
  if (key) headers.set("X-API-Key", key);
  const body = raw ?? (json === undefined ? undefined : JSON.stringify(json));
  if (body !== undefined && contentType !== null) {
    headers.set("Content-Type", contentType ?? "application/json");
  }
  const response = await exports.default.fetch(ORIGIN + path, {
    method,
    headers,
    redirect: "manual",
    ...(body === undefined ? {} : { body }),
  });
  const isStream = response.headers.get("content-type") === "text/event-stream";
  const text = isStream ? await beginningOf(response) : await response.text();
  const isJson = response.headers.get("content-type")?.includes("json");
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text ? JSON.parse(text) : text,
  };
}

/** A stream of events ends with the call; its first piece is enough. */
async function beginningOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return new TextDecoder().decode(first?.value);
}

const LEAKS = /userId|user_id|openai|eleven_?labs|eleven_|deepgram|upstash|qstash|neon|gpt-/i;

/** Holds for every answer to everybody: our shape, our words, and nothing of the inside. */
export function expectClean(answer: Answer): void {
  expect(answer.status).toBeLessThan(500);
  expect(answer.headers.get("x-request-id")).toMatch(/^[A-Za-z0-9._~-]{1,128}$/);
  expect(JSON.stringify([answer.body, ...answer.headers])).not.toMatch(LEAKS);
  expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  if (answer.status >= 400) {
    expectExactly(ErrorBody, answer.body);
    expect(answer.body.error.requestId).toBe(answer.headers.get("x-request-id"));
  }
}

/** The answer is one of those in the endpoint's own documentation, to the last field. */
export function expectDocumented(endpoint: Tested, answer: Answer): void {
  expectClean(answer);
  const good = endpoint.operation.responses[answer.status];
  if (good) {
    expectExactly(good, answer.body);
  } else {
    const documented = failuresOf(endpoint).map((code) => `${statusOf[code]} ${wireCode(code)}`);
    expect(documented).toContain(`${answer.status} ${answer.body?.error?.code}`);
  }
  if (answer.status === 401) return;
  expect(answer.headers.get("ratelimit-policy")).toBe('"key";q=60;w=60, "org";q=300;w=60');
  expect(answer.headers.get("ratelimit")).toMatch(/^"key";r=\d+;t=\d+, "org";r=\d+;t=\d+$/);
  for (const name of ["limit", "remaining", "reset"]) {
    expect(answer.headers.get(`x-ratelimit-${name}`)).toMatch(/^\d+$/);
  }
}

/** Zod drops the fields that a schema does not know: what was dropped was not documented. */
function expectExactly(schema: z.ZodType, body: unknown): void {
  const parsed = schema.safeParse(body);
  expect(parsed.success ? parsed.data : z.prettifyError(parsed.error)).toEqual(body);
}

export function expectRefusal(answer: Answer, status: number, code: string): void {
  expect([answer.status, answer.body?.error?.code]).toEqual([status, code]);
}
