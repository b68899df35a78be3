/** Spoken where a two-letter code does not say which: names that people write for them. */
const VARIANTS = (
  "en-US en-GB en-AU en-CA en-IN es-ES es-MX es-419 es-US pt-BR pt-PT fr-FR fr-CA fr-CH fr-BE " +
  "de-DE de-AT de-CH it-IT it-CH nl-NL nl-BE zh-CN zh-TW zh-Hans zh-Hant ar-EG ar-SA fa-AF sr-Latn"
).split(" ");
const LONGER_CODES = "ast ceb cmn fil gsw haw hmn nds sco tlh tpi wuu yue".split(" ");
const OTHER_NAMES: Record<string, string> = {
  mandarin: "zh",
  "mandarin chinese": "zh",
  "chinese mandarin": "zh",
  tagalog: "fil",
  farsi: "fa",
  castilian: "es",
  "latin american spanish": "es-419",
  flemish: "nl-BE",
};

/** Tags by the names that the runtime knows, in lower case. */
let tagsByName: Map<string, string> | null = null;

/**
 * The BCP-47 tag of a language's name, in English ("Brazilian Portuguese") or its own ("Deutsch"),
 * or of a tag ("es-MX", "en_US"); null for what is no language.
 */
export function languageTag(text: string): string | null {
  const wanted = text.trim().toLowerCase();
  tagsByName ??= names();
  const named =
    OTHER_NAMES[wanted] ??
    tagsByName.get(wanted) ??
    tagsByName.get(wanted.replace(/\s*\(.*\)$/, ""));
  if (named) return named;
  try {
    const [tag] = Intl.getCanonicalLocales(wanted.replaceAll("_", "-"));
    const [language] = tag?.split("-") ?? [];
    return tag && language && isNamed(language) ? tag : null;
  } catch {
    return null;
  }
}

function names(): Map<string, string> {
  const english = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });
  const found = new Map<string, string>();
  const add = (name: string | undefined, tag: string) => {
    if (name && !found.has(name.toLowerCase())) found.set(name.toLowerCase(), tag);
  };
  const letters = [..."abcdefghijklmnopqrstuvwxyz"];
  const codes = letters.flatMap((a) => letters.map((b) => a + b));
  for (const tag of [...codes, ...LONGER_CODES, ...VARIANTS]) {
    const name = english.of(tag);
    if (!name) continue;
    add(name, tag);
    add(ownName(tag), tag);
  }
  return found;
}

function ownName(tag: string): string | undefined {
  return new Intl.DisplayNames([tag], { type: "language", fallback: "none" }).of(tag);
}

function isNamed(code: string): boolean {
  const english = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });
  return english.of(code) !== undefined;
}
