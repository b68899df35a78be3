import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import type { Context as ServiceContext } from "../context.ts";
import { type FailureCode, failure } from "../errors.ts";
import { log } from "../log.ts";
import type { Admission } from "../resources/keys/gate-types.ts";
import { readSecret } from "../resources/keys/secret.ts";
import { setRateHeaders } from "./rate-headers.ts";
import { Refusal } from "./refusal.ts";
import type { Http } from "./types.ts";

const refusals: Partial<Record<FailureCode, string>> = {
  missing_api_key: "Send your API key in the header X-API-Key",
  invalid_api_key: "This API key is not valid",
  key_revoked: "This API key has been revoked",
  key_expired: "This API key has expired",
  ip_not_allowed: "This API key may not be used from this address",
  organization_not_found: "This organization does not exist",
  rate_limited: "Too many requests; try again after the time in Retry-After",
};

/**
 * Key, address and rate in one hop to the organization's gate, whose word is final: nothing here
 * remembers a decision. Leaves the context for the verbs behind it.
 */
export const authenticate = createMiddleware<Http>(async (c, next) => {
  const { wiring } = c.var;
  const text = c.req.header("x-api-key");
  if (!text) throw refuse("missing_api_key");
  const secret = await readSecret(text, wiring.settings.KEY_CHECK_SECRET);
  if (!secret) throw refuse("invalid_api_key");
  const admission = await wiring.gate(secret.routingTag).admit({
    hash: secret.hash,
    address: c.req.header("cf-connecting-ip") ?? null,
  });
  c.set("rates", admission.rates);
  if (!admission.admitted) throw refuse(admission.code);
  c.set("context", contextOf(c, admission));
  await next();
  setRateHeaders(c.res.headers, admission.rates);
});

function refuse(code: FailureCode): Refusal {
  return new Refusal(failure(code, refusals[code] ?? "This request is refused"));
}

function contextOf(
  c: Context<Http>,
  admission: Extract<Admission, { admitted: true }>,
): ServiceContext {
  const { wiring } = c.var;
  return {
    organizationId: admission.organizationId,
    routingTag: admission.routingTag,
    keyId: admission.keyId,
    scopes: admission.scopes,
    now: Date.now(),
    db: wiring.tenant(admission.organizationId),
    gate: wiring.gate(admission.routingTag),
    queue: wiring.queue,
    catalogue: wiring.catalogue,
    sessions: wiring.session,
    vault: wiring.vault,
    options: wiring.options,
    later: (work) => {
      c.executionCtx.waitUntil(
        work.catch(() => log("warn", "later_failed", { requestId: c.var.requestId })),
      );
    },
  };
}
