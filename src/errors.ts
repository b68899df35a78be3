/** Every failure a caller can be told of. The edge alone knows which HTTP status each one is. */
export type FailureCode =
  | "validation_failed"
  | "missing_api_key"
  | "invalid_api_key"
  | "key_revoked"
  | "key_expired"
  | "ip_not_allowed"
  | "rate_limited"
  | "missing_scope"
  | "key_is_revoked"
  | "key_not_found"
  | "organization_not_found"
  | "agent_not_found"
  | "call_not_found"
  | "call_ended"
  | "analysis_not_ready"
  | "phone_purchase_not_found"
  | "webhook_history_not_found"
  | "webhook_endpoint_not_found"
  | "idempotency_in_flight"
  | "idempotency_mismatch"
  | "idempotency_outcome_lost"
  | "limit_reached"
  | "concurrency_limit"
  | "not_found"
  | "method_not_allowed"
  | "payload_too_large"
  | "unavailable"
  | "internal_error";

export type Issue = { path: string; message: string };

/** What went wrong, as a value: verbs return it, the edge turns it into an answer. */
export type Failure = {
  readonly failed: FailureCode;
  readonly message: string;
  readonly issues?: readonly Issue[];
};

export function failure(failed: FailureCode, message: string, issues?: readonly Issue[]): Failure {
  return issues ? { failed, message, issues } : { failed, message };
}

/** A failure of one field, named by its path in the request. */
export function invalid(path: string, message: string): Failure {
  return failure("validation_failed", `${path}: ${message}`, [{ path, message }]);
}

export function isFailure(value: unknown): value is Failure {
  return typeof value === "object" && value !== null && "failed" in value;
}

/** A dependency did not answer: nothing is known to be wrong with the request. */
export class Unavailable extends Error {
  constructor(what: string, options?: ErrorOptions) {
    super(`${what} is unavailable`, options);
    this.name = "Unavailable";
  }
}
