import { fromBase64, toBase64 } from "../../encoding.ts";

/** `whsec_` and 32 random bytes in base64, as the Standard Webhooks libraries take it. */
export function newWebhookSecret(): string {
  return `whsec_${toBase64(crypto.getRandomValues(new Uint8Array(32)))}`;
}

/** The bytes that key the signature. */
export function secretBytes(secret: string): Uint8Array<ArrayBuffer> {
  return fromBase64(secret.replace(/^whsec_/, ""));
}
