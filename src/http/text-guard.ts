import { type Failure, invalid } from "../errors.ts";

const MAX_DEPTH = 32;

/**
 * Postgres refuses NUL and lone surrogates, and deep nesting breaks whoever recurses: all three are
 * stopped here, with the place named, before anything else looks at the text.
 */
export function guardText(path: string, text: string): Failure | null {
  if (text.includes("\0")) return invalid(path, "must not contain the character NUL");
  if (!text.isWellFormed()) return invalid(path, "must be well-formed Unicode");
  return null;
}

/** Counted on the raw text: a parser may not survive what this refuses. */
export function guardDepth(json: string): Failure | null {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < json.length; i++) {
    const character = json.charCodeAt(i);
    if (inString) {
      if (character === 0x5c) i++;
      else if (character === 0x22) inString = false;
    } else if (character === 0x22) inString = true;
    else if (character === 0x7b || character === 0x5b) {
      depth += 1;
      if (depth > MAX_DEPTH) return invalid("body", `is nested deeper than ${MAX_DEPTH} levels`);
    } else if (character === 0x7d || character === 0x5d) depth -= 1;
  }
  return null;
}

/** Every string of a parsed value, keys included. The depth is bounded by `guardDepth`. */
export function guardValue(path: string, value: unknown): Failure | null {
  if (typeof value === "string") return guardText(path, value);
  if (typeof value !== "object" || value === null) return null;
  for (const [key, inner] of Object.entries(value)) {
    const failed =
      guardText(path, key) ?? guardValue(path === "body" ? key : `${path}.${key}`, inner);
    if (failed) return failed;
  }
  return null;
}
