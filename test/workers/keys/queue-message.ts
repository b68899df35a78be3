import { exports } from "cloudflare:workers";
import { inject } from "vitest";
import type { QueueMessage } from "../../../src/ports/queue.ts";

const variables = inject("variables");
const encode = (text: string) => new TextEncoder().encode(text);
const base64url = (bytes: ArrayBuffer | Uint8Array) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

/** Brings a published message to the Worker as the queue does; gives the status it answers. */
export async function deliver({ task, body }: QueueMessage): Promise<number> {
  const url = `${variables["PUBLIC_URL"]}/internal/q/${task}`;
  const text = JSON.stringify(body);
  const answer = await exports.default.fetch(url, {
    method: "POST",
    headers: { "Upstash-Signature": await sign(url, text) },
    body: text,
  });
  return answer.status;
}

async function sign(url: string, text: string): Promise<string> {
  const issuedAt = Math.floor(Date.now() / 1_000);
  const claims = {
    iss: "Upstash",
    sub: url,
    exp: issuedAt + 300,
    nbf: issuedAt,
    iat: issuedAt,
    jti: crypto.randomUUID(),
    body: base64url(await crypto.subtle.digest("SHA-256", encode(text))),
  };
  const segment = (value: object) => base64url(encode(JSON.stringify(value)));
  const signed = `${segment({ alg: "HS256", typ: "JWT" })}.${segment(claims)}`;
  const key = await crypto.subtle.importKey(
    "raw",
    encode(variables["QSTASH_CURRENT_SIGNING_KEY"] ?? ""),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  return `${signed}.${base64url(await crypto.subtle.sign("HMAC", key, encode(signed)))}`;
}
