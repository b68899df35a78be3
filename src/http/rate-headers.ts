import type { Rates } from "../resources/keys/gate-types.ts";
import { KEY_LIMIT, ORGANIZATION_LIMIT } from "../resources/keys/window.ts";

const seconds = (ms: number) => Math.ceil(ms / 1000);

/** The draft standard's headers for both windows, and the customary three for the tighter one. */
export function setRateHeaders(headers: Headers, { key, organization }: Rates): void {
  headers.set("RateLimit-Policy", `"key";q=${KEY_LIMIT};w=60, "org";q=${ORGANIZATION_LIMIT};w=60`);
  headers.set(
    "RateLimit",
    `"key";r=${key.remaining};t=${seconds(key.resetMs)}, "org";r=${organization.remaining};t=${seconds(organization.resetMs)}`,
  );
  const keyIsTighter = key.remaining <= organization.remaining;
  const [limit, tighter] = keyIsTighter ? [KEY_LIMIT, key] : [ORGANIZATION_LIMIT, organization];
  headers.set("X-RateLimit-Limit", String(limit));
  headers.set("X-RateLimit-Remaining", String(tighter.remaining));
  headers.set("X-RateLimit-Reset", String(seconds(tighter.resetMs)));
}

/** When the next request can pass, in whole seconds, never too early. */
export function retryAfter({ key, organization }: Rates): number {
  const full = [key, organization].filter((window) => window.remaining === 0);
  return Math.max(1, ...full.map((window) => seconds(window.resetMs)));
}
