import type { Tenant } from "./db/tenant.ts";
import type { Catalogue } from "./ports/catalogue.ts";
import type { Queue } from "./ports/queue.ts";
import type { Session } from "./resources/calls/session-types.ts";
import type { Gate } from "./resources/keys/gate-types.ts";
import type { Scope } from "./resources/keys/scopes.ts";
import type { Vault } from "./vault.ts";

/** What the service was configured to do, as far as a verb needs to know. */
export type Options = {
  publicUrl: string;
  /** Signs the check characters of keys. */
  keyCheckSecret: string;
  /** Origins exempt from the guard on customers' URLs. */
  webhookDevOrigins: readonly string[];
  /** A DNS-over-HTTPS server that is asked before each delivery; null asks nobody. */
  webhookDnsUrl: string | null;
  callJoinSeconds: number;
  /** How many of one organization's web calls may be live at once. */
  liveWebCalls: number;
};

/** Who asks, of what, and when: the first argument of every verb. Lives for one request. */
export type Context = {
  organizationId: string;
  routingTag: string;
  /** The key that asks; null for the operator and for the queue. */
  keyId: string | null;
  scopes: readonly Scope[];
  /** Ms since the epoch; read once, so that all of a request happens at one time. */
  now: number;
  db: Tenant;
  gate: Gate;
  queue: Queue;
  catalogue: Catalogue;
  sessions(callId: string): Session;
  vault: Vault;
  options: Options;
  /** Goes on after the answer; its failures are logged. */
  later(work: Promise<unknown>): void;
};
