import type { FailureCode } from "../../errors.ts";
import { addressMatches } from "./address.ts";
import type { GateKey, Rates } from "./gate-types.ts";
import { KEY_LIMIT, ORGANIZATION_LIMIT, slide, stateOf, type Window } from "./window.ts";

export type Decision = { code: FailureCode | null; rates: Rates | null };

/**
 * Key, then address, then both windows. Pure but for the windows, which take the request only when
 * both have room: a refusal uses up neither.
 */
export function decide(
  key: GateKey | undefined,
  address: string | null,
  windows: { key: Window; organization: Window },
  now: number,
): Decision {
  if (!key) return { code: "invalid_api_key", rates: null };
  if (key.status === "revoked") return { code: "key_revoked", rates: null };
  if (key.expiresAt !== null && key.expiresAt <= now) return { code: "key_expired", rates: null };
  if (key.allowedIps && !(address && addressMatches(address, key.allowedIps))) {
    return { code: "ip_not_allowed", rates: null };
  }
  slide(windows.key, now);
  slide(windows.organization, now);
  const full = windows.key.length >= KEY_LIMIT || windows.organization.length >= ORGANIZATION_LIMIT;
  if (!full) {
    windows.key.push(now);
    windows.organization.push(now);
  }
  return {
    code: full ? "rate_limited" : null,
    rates: {
      key: stateOf(windows.key, KEY_LIMIT, now),
      organization: stateOf(windows.organization, ORGANIZATION_LIMIT, now),
    },
  };
}
