import { inject } from "vitest";
import { request } from "./client.ts";

const variables = inject("variables");

type Row = { id: string; gen: number; task: string };

/** Brings a message to the Worker as the queue would, signed; returns the status. */
export async function deliverTask(organizationId: string, row: Row): Promise<number> {
  const body = JSON.stringify({ org: organizationId, id: row.id, gen: row.gen });
  const path = `/internal/q/${row.task}`;
  const signature = await queueSignature(path, body);
  const answer = await request("POST", path, {
    body,
    headers: { "Content-Type": "application/json", "Upstash-Signature": signature },
  });
  return answer.status;
}

/** The queue's token for one request: a JWT over the URL and the body's hash. */
export async function queueSignature(
  path: string,
  body: string,
  overrides: { key?: string; claims?: object; header?: object; hash?: string } = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const digest = await crypto.subtle.digest("SHA-256", encode(body));
  const claims = {
    iss: "Upstash",
    sub: `${variables["PUBLIC_URL"]}${path}`,
    exp: now + 300,
    nbf: now,
    iat: now,
    jti: crypto.randomUUID(),
    body: base64url(new Uint8Array(digest)),
    ...overrides.claims,
  };
  const text = [{ alg: "HS256", typ: "JWT", ...overrides.header }, claims]
    .map((part) => base64url(encode(JSON.stringify(part))))
    .join(".");
  const secret = overrides.key ?? variables["QSTASH_CURRENT_SIGNING_KEY"] ?? "";
  const key = await crypto.subtle.importKey(
    "raw",
    encode(secret),
    { name: "HMAC", hash: overrides.hash ?? "SHA-256" },
    false,
    ["sign"],
  );
  const mac = await crypto.subtle.sign("HMAC", key, encode(text));
  return `${text}.${base64url(new Uint8Array(mac))}`;
}

const encode = (text: string) => new TextEncoder().encode(text);
const base64url = (bytes: Uint8Array) =>
  bytes.toBase64({ alphabet: "base64url", omitPadding: true });
