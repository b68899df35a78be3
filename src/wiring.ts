import type { Options } from "./context.ts";
import type { System } from "./db/system.ts";
import type { Tenant } from "./db/tenant.ts";
import type { Settings } from "./env.ts";
import type { Catalogue } from "./ports/catalogue.ts";
import type { Queue, QueueReceiver } from "./ports/queue.ts";
import type { Session } from "./resources/calls/session-types.ts";
import type { Gate } from "./resources/keys/gate-types.ts";
import type { Vault } from "./vault.ts";

/** Everything the service is made of, put together once for each isolate by `index.ts`. */
export type Wiring = {
  settings: Settings;
  options: Options;
  system: System;
  tenant(organizationId: string): Tenant;
  gate(routingTag: string): Gate;
  session(callId: string): Session;
  queue: Queue;
  receiver: QueueReceiver;
  catalogue: Catalogue;
  vault: Vault;
};
