import { isUnspaced, plainWords } from "./words.ts";

/** Whether one of `phrases` is said in `text`: whole words, whatever case and punctuation. */
export function saysPhrase(text: string, phrases: readonly string[]): boolean {
  const said = plainWords(text);
  return phrases.some((phrase) => {
    const wanted = plainWords(phrase);
    if (wanted === "") return false;
    // Without spaces there are no borders of words to look for.
    return isUnspaced(wanted) ? said.includes(wanted) : ` ${said} `.includes(` ${wanted} `);
  });
}
