import { isUnspaced, plainWords } from "./words.ts";

/** Words after which more is to come, and sounds of somebody who is still thinking, by language. */
const unfinished: Record<string, string> = {
  en: "and but or so because if then the a an to of for with at in on is are my your i we um uh er erm like well that which who when",
  es: "y e o pero porque si que de la el los las un una con para por en mi su eh este pues",
  fr: "et ou mais parce car si que de la le les un une des du avec pour dans mon ma euh ben donc",
  de: "und oder aber weil wenn dass der die das ein eine einen mit für in auf zu mein meine äh ähm also",
  it: "e o ma perché se che di la il lo i gli le un una con per in mio mia ehm allora",
  pt: "e ou mas porque se que de da do a o os as um uma com para por em meu minha é então",
  nl: "en of maar omdat als dat de het een met voor in op van mijn eh uh dus",
  pl: "i oraz lub ale bo że jeśli w na z do dla mój moja yyy eee więc",
  ru: "и или но потому что если в на с к для мой моя э ну вот",
  tr: "ve veya ama çünkü eğer ile için bir şey ııı yani",
  sv: "och eller men för att om som en ett med i på min mitt eh så",
  hi: "और या लेकिन क्योंकि अगर कि में से को का की के",
  ar: "و أو لكن لأن إذا أن في من إلى على مع يعني",
  ja: "と は が を に で も の から けど ので えっと あの それで",
  ko: "그리고 그런데 하지만 그래서 왜냐하면 만약 음 저 그",
  zh: "和 跟 但是 因为 如果 然后 那个 的 在 就是",
};

/** Silence, in ms, that ends a turn after each kind of text. */
export const silences = {
  sentence: 200,
  numberSentence: 700,
  plain: 600,
  clause: 900,
  unfinished: 1200,
} as const;

/**
 * How long to wait in silence after `text`, ms, before its speaker has probably finished: a question
 * is an end, "and" or half a telephone number is none. `language` is BCP-47.
 */
export function silenceAfter(text: string, language: string): number {
  const said = text.trim();
  const end = /[.!?…。！？｡।॥؟۔,;:、，；：،؛—–-]*$/u.exec(said)?.[0] ?? "";
  if (/…|\.\.|。。|[—–-]$/u.test(end) || isUnfinished(said, language)) return silences.unfinished;
  const isNumber = /\p{N}$/u.test(said.slice(0, said.length - end.length));
  if (/[!?！？؟]/u.test(end)) return silences.sentence;
  if (/[.。｡।॥۔]/u.test(end)) return isNumber ? silences.numberSentence : silences.sentence;
  if (isNumber) return silences.unfinished;
  return end === "" ? silences.plain : silences.clause;
}

function isUnfinished(text: string, language: string): boolean {
  // A question may end in any word.
  if (/[?？؟!！]$/u.test(text)) return false;
  const [primary = ""] = language.toLowerCase().split("-");
  const words = (unfinished[primary] ?? "").split(" ").filter(Boolean);
  const said = plainWords(text);
  if (isUnspaced(said)) return /[^。．.]$/u.test(text) && words.some((word) => said.endsWith(word));
  return words.includes(said.slice(said.lastIndexOf(" ") + 1));
}
