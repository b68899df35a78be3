import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { type HeaderLists, headerLists } from "./headers.ts";
import type { Message } from "./message.ts";
import { sign } from "./signature.ts";

const LONGEST_RESPONSE_BYTES = 1024 * 1024;
const NOT_FORWARDED =
  /^(host|content-length|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|proxy-.*)$/;

/** `status` is 0, and `error` says why, when there was no complete answer. */
export type Outcome = { status: number; header: HeaderLists; body: Uint8Array; error?: string };

/** Sends the message once. Redirects are not followed. Never rejects. */
export async function attempt(
  message: Message,
  signingKey: string,
  stop: AbortController,
): Promise<Outcome> {
  const { timeoutMs } = message.settings;
  const timer = setTimeout(() => stop.abort(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs);
  try {
    const response = await send(message, signingKey, stop.signal);
    const body = await read(response);
    return {
      status: response.statusCode ?? 0,
      header: headerLists(response.headersDistinct),
      body,
    };
  } catch (thrown) {
    const error = stop.signal.aborted ? stop.signal.reason : thrown;
    return { status: 0, header: {}, body: new Uint8Array(), error: reason(error) };
  } finally {
    clearTimeout(timer);
  }
}

function send(message: Message, signingKey: string, signal: AbortSignal) {
  const url = new URL(message.settings.url);
  const open = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise<IncomingMessage>((resolve, reject) => {
    const headers = deliveryHeaders(message, signingKey);
    // A connection of its own: one kept alive may be closed by the receiver just as we write,
    // and that failure would cost the message a retry.
    const options = { method: message.settings.method, headers, agent: false, signal };
    const request = open(url, options, resolve);
    request.on("error", reject);
    request.end(message.body.length > 0 ? message.body : undefined);
  });
}

function deliveryHeaders(message: Message, signingKey: string): HeaderLists {
  const { settings } = message;
  const headers = Object.fromEntries(
    Object.entries(settings.header).filter(([name]) => !NOT_FORWARDED.test(name)),
  );
  return {
    ...headers,
    "content-length": [String(message.body.length)],
    "user-agent": ["Upstash-QStash"],
    "upstash-message-id": [message.id],
    "upstash-retried": [String(message.retried)],
    "upstash-signature": [sign(settings.url, message.body, signingKey)],
    "upstash-region": ["EU-CENTRAL-1"],
    ...(message.scheduleId ? { "upstash-schedule-id": [message.scheduleId] } : {}),
    ...(settings.labels.length > 0 ? { "upstash-label": [settings.labels.join(",")] } : {}),
  };
}

async function read(response: IncomingMessage): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= LONGEST_RESPONSE_BYTES) chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || ("code" in error ? String(error.code) : error.name);
}
