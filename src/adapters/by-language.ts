import type { Transcriber } from "../ports/transcriber.ts";

/** A recogniser that knows `languages` only, and another for calls in any other. */
export function byLanguage(
  first: Transcriber,
  languages: readonly string[],
  otherwise: Transcriber,
): Transcriber {
  return {
    open(wanted) {
      const [code = ""] = wanted.language.toLowerCase().split("-");
      return (languages.includes(code) ? first : otherwise).open(wanted);
    },
  };
}
