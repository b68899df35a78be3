import type { ContentfulStatusCode } from "hono/utils/http-status";
import { type Failure, type FailureCode, isFailure } from "../errors.ts";

/** The HTTP status of each failure; nothing else decides one. */
export const statusOf = {
  validation_failed: 400,
  limit_reached: 400,
  key_is_revoked: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  key_revoked: 401,
  key_expired: 401,
  ip_not_allowed: 403,
  missing_scope: 403,
  not_found: 404,
  organization_not_found: 404,
  key_not_found: 404,
  agent_not_found: 404,
  call_not_found: 404,
  analysis_not_ready: 404,
  phone_purchase_not_found: 404,
  webhook_history_not_found: 404,
  webhook_endpoint_not_found: 404,
  method_not_allowed: 405,
  call_ended: 409,
  idempotency_in_flight: 409,
  idempotency_outcome_lost: 409,
  payload_too_large: 413,
  idempotency_mismatch: 422,
  rate_limited: 429,
  concurrency_limit: 429,
  internal_error: 500,
  unavailable: 503,
} as const satisfies Record<FailureCode, ContentfulStatusCode>;

/** The code on the wire, where it is not the failure's own name. */
const wireCodes: Partial<Record<FailureCode, string>> = { key_is_revoked: "key_revoked" };

export function wireCode(code: FailureCode): string {
  return wireCodes[code] ?? code;
}

/** A failure on its way to the answer; `app.onError` is the only one to catch it. */
export class Refusal extends Error {
  readonly failure: Failure;
  readonly status: ContentfulStatusCode;
  readonly headers: Record<string, string>;
  constructor(
    failure: Failure,
    options: { status?: ContentfulStatusCode; headers?: Record<string, string> } = {},
  ) {
    super(failure.failed);
    this.name = "Refusal";
    this.failure = failure;
    this.status = options.status ?? statusOf[failure.failed];
    this.headers = options.headers ?? {};
  }
}

/** The edge where a verb's failure becomes an answer. */
export function unwrap<T>(result: T): Exclude<T, Failure> {
  if (isFailure(result)) throw new Refusal(result);
  return result as Exclude<T, Failure>;
}
