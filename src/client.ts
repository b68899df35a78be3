import { hc } from "hono/client";
import type { App } from "./app.ts";
import { fromBase64 } from "./encoding.ts";

/** A client whose paths, bodies and answers have the types of the service itself. */
export function createClient(baseUrl: string, apiKey: string) {
  return hc<App>(baseUrl, { headers: { "X-API-Key": apiKey } });
}

export type WebhookEvent = {
  id: string;
  type: string;
  /** ISO 8601. */
  timestamp: string;
  data: Record<string, unknown>;
};

/** The request is not one of ours, was altered, or is too old. Answer it with a 4xx. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
}

const TOLERANCE_SECONDS = 300;

/**
 * The event of a webhook request, once its signature is proven. `body` is the raw text, before any
 * parser touched it. Throws `WebhookVerificationError`.
 */
export async function verifyWebhook(
  body: string,
  headers: Headers | Record<string, string | string[] | undefined>,
  secret: string,
): Promise<WebhookEvent> {
  const read = headerReader(headers);
  const [id, timestamp, signatures] = [
    read("webhook-id"),
    read("webhook-timestamp"),
    read("webhook-signature"),
  ];
  if (!id || !timestamp || !signatures) throw new WebhookVerificationError("A header is missing");
  // Not true for NaN either.
  if (!(Math.abs(Date.now() / 1_000 - Number(timestamp)) <= TOLERANCE_SECONDS)) {
    throw new WebhookVerificationError("The timestamp is too far from now");
  }
  const key = await crypto.subtle.importKey(
    "raw",
    fromBase64(secret.replace(/^whsec_/, "")),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign", "verify"],
  );
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  for (const signature of signatures.split(" ")) {
    const [version, mac = ""] = signature.split(",");
    const bytes = version === "v1" ? decode(mac) : null;
    // Compared in constant time.
    if (bytes && (await crypto.subtle.verify("HMAC", key, bytes, signed))) return JSON.parse(body);
  }
  throw new WebhookVerificationError("No signature fits");
}

function decode(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return fromBase64(text);
  } catch {
    return null;
  }
}

function headerReader(headers: Headers | Record<string, string | string[] | undefined>) {
  if (headers instanceof Headers) return (name: string) => headers.get(name);
  const all = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return (name: string) => {
    const value = all.get(name);
    return Array.isArray(value) ? value[0] : value;
  };
}
