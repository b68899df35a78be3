import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import { DatabaseError } from "../db/failure.ts";
import { type Failure, type FailureCode, failure, Unavailable } from "../errors.ts";
import { log } from "../log.ts";
import { PortError } from "../ports/failure.ts";
import { retryAfter, setRateHeaders } from "./rate-headers.ts";
import { Refusal, wireCode } from "./refusal.ts";
import type { Http } from "./types.ts";

/** What a caller should simply ask again. */
const RETRY_SOON: readonly FailureCode[] = [
  "unavailable",
  "analysis_not_ready",
  "concurrency_limit",
];

/** Every error of every request ends here, and leaves in one shape that says nothing of the inside. */
export function answerFailure(error: Error, c: Context<Http>): Response {
  const refusal = refusalOf(error, c);
  const headers = new Headers(refusal.headers);
  const { rates } = c.var;
  if (rates) {
    setRateHeaders(headers, rates);
    if (refusal.failure.failed === "rate_limited") {
      headers.set("Retry-After", String(retryAfter(rates)));
    }
  }
  if (refusal.status === 401) headers.set("WWW-Authenticate", 'ApiKey header="X-API-Key"');
  if (RETRY_SOON.includes(refusal.failure.failed)) headers.set("Retry-After", "1");
  return c.json(
    errorBody(refusal.failure, c.var.requestId),
    refusal.status,
    Object.fromEntries(headers),
  );
}

export function errorBody({ failed, message, issues }: Failure, requestId: string) {
  const code = wireCode(failed);
  return {
    success: false as const,
    status: false as const,
    message,
    error: issues ? { code, requestId, issues } : { code, requestId },
  };
}

function refusalOf(error: Error, c: Context<Http>): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof Unavailable || error instanceof PortError) {
    return new Refusal(failure("unavailable", "The service is briefly unavailable; try again"));
  }
  if (error instanceof HTTPException && error.status === 400) {
    return new Refusal(failure("validation_failed", "The request is malformed"));
  }
  // The name and the place are enough to find it; a message may hold content.
  log("error", "unexpected", {
    requestId: c.var.requestId,
    name: error.name,
    code: error instanceof DatabaseError ? error.code : undefined,
    constraint: error instanceof DatabaseError ? error.constraint : undefined,
    at: error.stack
      ?.split("\n")
      .slice(1, 4)
      .map((line) => line.trim())
      .join(" | "),
  });
  return new Refusal(failure("internal_error", "Something went wrong on our side"));
}
