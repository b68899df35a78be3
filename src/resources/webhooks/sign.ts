import { toBase64, toHex } from "../../encoding.ts";
import { secretBytes } from "./secret.ts";

/**
 * Both header families over `<id>.<seconds>.<body>`, HMAC-SHA256: ours with one `v1` for each
 * secret that is valid, and the Standard Webhooks one, so that existing libraries verify it.
 */
export async function signatureHeaders(
  secrets: readonly string[],
  { id, body }: { id: string; body: string },
  now: number,
): Promise<Record<string, string>> {
  const seconds = Math.floor(now / 1000);
  const macs = await Promise.all(secrets.map((secret) => mac(secret, `${id}.${seconds}.${body}`)));
  return {
    "X-Service-Signature": [`t=${seconds}`, ...macs.map((bytes) => `v1=${toHex(bytes)}`)].join(","),
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": macs.map((bytes) => `v1,${toBase64(bytes)}`).join(" "),
  };
}

async function mac(secret: string, text: string): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey(
    "raw",
    secretBytes(secret),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text)));
}
