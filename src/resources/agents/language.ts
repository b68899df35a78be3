/** Two-letter codes that the runtime can name in English, by that name in lower case. */
let codesByName: Map<string, string> | null = null;

/** The BCP-47 tag of a language's English name ("Spanish") or tag ("es-MX"); null for neither. */
export function languageTag(text: string): string | null {
  const wanted = text.trim().toLowerCase();
  codesByName ??= names();
  const named = codesByName.get(wanted) ?? codesByName.get(wanted.replace(/\s*\(.*\)$/, ""));
  if (named) return named;
  try {
    const [tag] = Intl.getCanonicalLocales(wanted);
    const language = tag?.split("-")[0];
    return tag && language && isNamed(language) ? tag : null;
  } catch {
    return null;
  }
}

function names(): Map<string, string> {
  const english = new Intl.DisplayNames(["en"], { type: "language" });
  const found = new Map<string, string>();
  const letters = [..."abcdefghijklmnopqrstuvwxyz"];
  for (const code of letters.flatMap((a) => letters.map((b) => a + b))) {
    const name = english.of(code);
    if (name && name !== code) found.set(name.toLowerCase(), code);
  }
  return found;
}

function isNamed(code: string): boolean {
  const name = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" }).of(code);
  return name !== undefined;
}
