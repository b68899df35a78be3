import { createHash, createHmac, randomUUID } from "node:crypto";

const LIFETIME_SECONDS = 300;

/**
 * The `Upstash-Signature` of one attempt: an HS256 token bound to the URL and the body. It always
 * lives on the real clock, because the receiver checks it against its own.
 */
export function sign(url: string, body: Uint8Array, signingKey: string): string {
  const issuedAt = Math.floor(Date.now() / 1000);
  const claims = {
    iss: "Upstash",
    sub: url,
    exp: issuedAt + LIFETIME_SECONDS,
    nbf: issuedAt,
    iat: issuedAt,
    jti: `jwt_${randomUUID()}`,
    body: createHash("sha256").update(body).digest("base64url"),
  };
  const signed = `${segment({ alg: "HS256", typ: "JWT" })}.${segment(claims)}`;
  return `${signed}.${createHmac("sha256", signingKey).update(signed).digest("base64url")}`;
}

function segment(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
