import type { FailureCode } from "../../errors.ts";
import type { Scope } from "./scopes.ts";
import type { WindowState } from "./window.ts";

/** What the gate knows of a key: enough to decide, nothing to show. */
export type GateKey = {
  id: string;
  hash: string;
  status: "active" | "revoked";
  scopes: Scope[];
  /** Ms since the epoch. */
  expiresAt: number | null;
  allowedIps: string[] | null;
  version: number;
};

export type Knock = {
  hash: string;
  /** The caller's address, or null when the platform gave none. */
  address: string | null;
};

export type Rates = { key: WindowState; organization: WindowState };

export type Admission =
  | {
      admitted: true;
      organizationId: string;
      routingTag: string;
      keyId: string;
      scopes: Scope[];
      rates: Rates;
    }
  | { admitted: false; code: FailureCode; rates: Rates | null };

/** The mark that a change of a key is under way, from before its commit until its end is known. */
export type ChangeMark = { token: string; version: number };

/** One organization's gate, as the rest of the service calls it. Every method throws `Unavailable`. */
export type Gate = {
  admit(knock: Knock): Promise<Admission>;
  beginChange(keyId: string): Promise<ChangeMark>;
  /** Also when nothing was changed; `key` is the newest that the changer has seen. */
  finishChange(token: string, key: GateKey): Promise<void>;
  /** Takes over what Postgres says of the organization, which is otherwise read only once. */
  refill(): Promise<void>;
};
