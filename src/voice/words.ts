/** Scripts that put no spaces between words; there one character is worth about three letters. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const unspacedAll = new RegExp(unspaced, "gu");

export function isUnspaced(text: string): boolean {
  return unspaced.test(text);
}

/** How long a text is to say, in letters of an alphabet. */
export function spokenLength(text: string): number {
  return text.length + 2 * (text.match(unspacedAll)?.length ?? 0);
}

/** Whether there is nothing in it to say. */
export function isSilent(text: string): boolean {
  return !/[\p{L}\p{N}]/u.test(text);
}

/** Just the words, in lower case, one space between them: what two ways of writing have in common. */
export function plainWords(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/['’]/gu, "")
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, " ")
    .trim();
}

/** Where the words of a text lie, in UTF-16 units; punctuation belongs to the word it touches. */
export type Word = { start: number; end: number };

export function wordsOf(text: string): Word[] {
  return Array.from(text.matchAll(/\S+/gu)).flatMap((match) => {
    const start = match.index;
    if (!isUnspaced(match[0])) return [{ start, end: start + match[0].length }];
    return segments(match[0]).map((word) => ({ start: start + word.start, end: start + word.end }));
  });
}

/** The beginning of `text` up to the last word of which at least half lies in its first `share`. */
export function firstWords(text: string, share: number): string {
  const reached = share * text.trimEnd().length;
  const heard = wordsOf(text).filter(({ start, end }) => (start + end) / 2 <= reached);
  return text.slice(0, heard.at(-1)?.end ?? 0);
}

let segmenter: Intl.Segmenter | undefined;

function segments(text: string): Word[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" });
  const words: Word[] = [];
  for (const { segment, index, isWordLike } of segmenter.segment(text)) {
    const last = words.at(-1);
    const end = index + segment.length;
    if (isWordLike || !last) words.push({ start: index, end });
    else last.end = end;
  }
  return words;
}
