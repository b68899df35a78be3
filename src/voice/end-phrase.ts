import { isUnspaced } from "./words.ts";

/** Whether one of `phrases` is said in `text`: whole words, whatever case and punctuation. */
export function saysPhrase(text: string, phrases: readonly string[]): boolean {
  const said = plain(text);
  return phrases.some((phrase) => {
    const wanted = plain(phrase);
    if (wanted === "") return false;
    // Without spaces there are no borders of words to look for.
    return isUnspaced(wanted) ? said.includes(wanted) : ` ${said} `.includes(` ${wanted} `);
  });
}

function plain(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/['’]/gu, "")
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, " ")
    .trim();
}
