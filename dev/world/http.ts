import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import * as z from "zod";

/** What the caller sent cannot be used; the message says why and is the body of the 400. */
export class BadRequest extends Error {}

export async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** The body, left in place for whoever handles the request. Empty when its length is not told. */
export async function peekBody(request: IncomingMessage): Promise<string> {
  const length = Number(request.headers["content-length"] ?? 0);
  const chunks: Buffer[] = [];
  for (let size = 0; size < length; ) {
    const chunk: Buffer | null = request.read();
    if (chunk) {
      chunks.push(chunk);
      size += chunk.length;
    } else {
      await once(request, "readable");
    }
  }
  const body = Buffer.concat(chunks);
  request.unshift(body);
  return body.toString();
}

/** Throws `BadRequest` unless the body is JSON of that shape. */
export async function readJson<T>(request: IncomingMessage, schema: z.ZodType<T>): Promise<T> {
  const text = await readText(request);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new BadRequest("The body is not JSON");
  }
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw new BadRequest(z.prettifyError(parsed.error));
  return parsed.data;
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

export function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${text}\n`);
}
