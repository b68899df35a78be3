import type { FailureCode } from "../../errors.ts";
import { addressMatches } from "./address.ts";
import type { GateKey, Rates } from "./gate-types.ts";
import { KEY_LIMIT, ORGANIZATION_LIMIT, slide, stateOf, type Window } from "./window.ts";

export type Question = {
  /** The key whose secret was shown, if there is one. */
  key: GateKey | undefined;
  /** The caller's address, or null when the platform gave none. */
  address: string | null;
  /** The organization was closed by the operator. */
  closed: boolean;
  windows: { key: Window; organization: Window };
  /** Ms since the epoch; never less than in any question before. */
  now: number;
  /** By how many ms this machine's clock is behind `now`: callers wait that much longer. */
  lag: number;
};

export type Decision = { code: FailureCode | null; rates: Rates | null };

/**
 * Key, then address, then both windows. Pure but for the windows, which take the request only when
 * both have room: a refusal uses up neither.
 */
export function decide({ key, address, closed, windows, now, lag }: Question): Decision {
  const refusal = refuse(key, address, closed, now);
  if (refusal) return { code: refusal, rates: null };
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
      key: stateOf(windows.key, KEY_LIMIT, now - lag),
      organization: stateOf(windows.organization, ORGANIZATION_LIMIT, now - lag),
    },
  };
}

function refuse(
  key: GateKey | undefined,
  address: string | null,
  closed: boolean,
  now: number,
): FailureCode | null {
  if (!key) return "invalid_api_key";
  if (key.status === "revoked") return "key_revoked";
  if (key.expiresAt !== null && key.expiresAt <= now) return "key_expired";
  if (closed) return "organization_not_found";
  if (key.allowedIps && !(address && addressMatches(address, key.allowedIps))) {
    return "ip_not_allowed";
  }
  return null;
}
