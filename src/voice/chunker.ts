import { spokenLength } from "./words.ts";

/**
 * Cuts text that is still being written into pieces fit to be spoken on their own. The first piece
 * may end at a clause, so that speech starts early; later ones end at sentences, which sound better.
 * The pieces joined are exactly the text, and they do not depend on how it arrived.
 */
export type Chunker = { buffer: string; first: boolean };

export const emptyChunker: Chunker = { buffer: "", first: true };

/** Shorter pieces sound chopped, and the gap before the next one is heard. */
const firstMinimum = 10;
const laterMinimum = 25;
/** Longer ones make the caller wait. In UTF-16 units. */
const maximum = 220;

const closers = `["'”’»)\\]*_」』）》]*`;
/**
 * A sentence's end counts once the next character is known: "3." may become "3.5", and a quotation
 * mark belongs to the sentence before it. Scripts without spaces need no space after it.
 */
const sentence = new RegExp(
  `[.!?…؟۔]+${closers}\\s|[。！？｡।॥]+${closers}(?:\\s|(?=[^\\s。！？｡।॥"'”’»)\\]*_」』）》]))|\\n`,
  "gu",
);
const clause = new RegExp(`[,;:،؛—–]${closers}\\s|[、，；：](?:\\s|(?=\\S))`, "gu");

/** Words whose dot ends no sentence. Too long a list only makes a piece longer. */
const abbreviations = new Set(
  (
    "mr mrs ms dr prof rev gen sen gov st sr jr vs etc approx dept est fig vol inc ltd corp ave " +
    "blvd tel ext jan feb apr aug sept oct nov dec bzw ca usw nr str evtl inkl mme mlle sra srta ud uds"
  ).split(" "),
);

/** `chunks` are the pieces that `text` completed, in order. */
export function pushText(chunker: Chunker, text: string): { chunker: Chunker; chunks: string[] } {
  const chunks: string[] = [];
  let buffer = chunker.buffer + text;
  let { first } = chunker;
  for (;;) {
    const end = findEnd(buffer, first);
    if (end === null) return { chunker: { buffer, first }, chunks };
    chunks.push(buffer.slice(0, end));
    buffer = buffer.slice(end);
    first = false;
  }
}

/** What is left when no more text will come; may be only white space, or nothing. */
export function flushText(chunker: Chunker): string {
  return chunker.buffer;
}

function findEnd(buffer: string, first: boolean): number | null {
  // Beyond the maximum nothing is looked at: else the cut would depend on how much has arrived.
  const text = buffer.slice(0, maximum);
  const ends = sentenceEnds(text);
  if (first) ends.push(...endsOf(clause, text));
  const minimum = first ? firstMinimum : laterMinimum;
  const long = ends.filter((end) => spokenLength(text.slice(0, end).trim()) >= minimum);
  if (long.length > 0) return Math.min(...long);
  return buffer.length > maximum ? forcedEnd(text) : null;
}

function forcedEnd(text: string): number {
  const clauseEnd = Math.max(0, ...endsOf(clause, text));
  if (clauseEnd > maximum / 2) return clauseEnd;
  const space = text.search(/\s\S*$/u);
  if (space > 0) return space + 1;
  const lastIsHalfOfAPair = /[\uD800-\uDBFF]$/.test(text);
  return lastIsHalfOfAPair ? text.length - 1 : text.length;
}

function endsOf(pattern: RegExp, text: string): number[] {
  return Array.from(text.matchAll(pattern), (match) => match.index + match[0].length);
}

function sentenceEnds(text: string): number[] {
  return Array.from(text.matchAll(sentence))
    .filter((match) => !/^\.[^.]*$/u.test(match[0]) || !isInnerDot(text.slice(0, match.index)))
    .map((match) => match.index + match[0].length);
}

/** Whether a dot after `before` belongs to a word or a number: "Dr.", "J.", "e.g.", "1." of a list. */
function isInnerDot(before: string): boolean {
  const line = before.slice(before.lastIndexOf("\n") + 1);
  if (/^\s*\d+$/u.test(line)) return true;
  const word = /[\p{L}\p{M}.]+$/u.exec(before)?.[0] ?? "";
  return /^(?:\p{L}\.)*\p{L}$/u.test(word) || abbreviations.has(word.toLowerCase());
}
