/** Why an outside party did not do what was asked; `code` is all that may reach a log. */
export type FailureCode = "timeout" | "refused" | "unavailable" | "garbled" | "aborted";

/**
 * The one error a port may throw. It carries no request, no answer and no vendor's text: those hold
 * prompts, transcripts and secrets, and this error is logged.
 */
export class PortError extends Error {
  readonly code: FailureCode;
  constructor(code: FailureCode, options?: ErrorOptions) {
    super(code, options);
    this.name = "PortError";
    this.code = code;
  }
}
