import type { Context as ServiceContext } from "../context.ts";
import type { Rates } from "../resources/keys/gate-types.ts";
import type { Wiring } from "../wiring.ts";

/** Hono's environment: what the middleware leaves for the handlers. */
export type Http = {
  Bindings: Env;
  Variables: {
    wiring: Wiring;
    requestId: string;
    /** Present behind `authenticate`. */
    context: ServiceContext;
    rates: Rates | null;
  };
};
