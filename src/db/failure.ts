import { Unavailable } from "../errors.ts";

/**
 * The driver's errors carry the statement and its parameters, which are prompts, transcripts and
 * hashes. This is what of them may go on: Postgres's own code and the constraint's name.
 */
export class DatabaseError extends Error {
  readonly code: string;
  readonly constraint: string | undefined;
  constructor(code: string, constraint: string | undefined) {
    super(`the database refused a statement (${code})`);
    this.name = "DatabaseError";
    this.code = code;
    this.constraint = constraint;
  }
}

/** Only what Postgres itself refused has a code: all else means that it was not reached. */
export function databaseFailure(error: unknown): DatabaseError | Unavailable {
  const source = hasCode(error) ? error : error instanceof Error ? error.cause : undefined;
  if (hasCode(source)) return new DatabaseError(source.code, source.constraint ?? undefined);
  return new Unavailable("the database");
}

function hasCode(error: unknown): error is { code: string; constraint?: string | null } {
  return (
    typeof error === "object" &&
    error !== null &&
    "code" in error &&
    typeof error.code === "string" &&
    // Shutting down, starting up, too many connections: it answers, but it is not there.
    !/^(57P0|53|08)/.test(error.code)
  );
}
