import { isUnspaced, plainWords } from "./words.ts";

/** What listeners say to show that they follow, by language; `plainWords` of it. */
const phrases: Record<string, string> = {
  en: "yes|yeah|yep|yup|right|sure|all right|alright|i see|got it|go on|of course|exactly|true|oh|good|great|cool|nice|fine|indeed|thats right|makes sense|really|wow",
  es: "sí|si|vale|claro|ya|ajá|aja|bueno|bien|de acuerdo|entiendo|exacto|eso es|perfecto",
  fr: "oui|ouais|daccord|ouais daccord|bien|bien sûr|je vois|exactement|voilà|ah bon|très bien|entendu",
  de: "ja|jaja|genau|klar|gut|alles klar|verstehe|ach so|aha|stimmt|richtig|in ordnung|na gut|schön|doch",
  it: "sì|si|certo|va bene|capisco|esatto|giusto|bene|già|daccordo|ecco|perfetto",
  pt: "sim|tá|tá bom|está bem|certo|claro|pois|pois é|entendo|entendi|exato|isso|bom|beleza",
  nl: "ja|jaja|precies|oké|goed|prima|juist|klopt|snap ik|ik snap het|begrijp ik|zeker",
  pl: "tak|no|dobrze|dobra|jasne|rozumiem|aha|właśnie|dokładnie|pewnie|racja",
  ru: "да|ага|угу|хорошо|понятно|ясно|точно|конечно|ладно|так|верно|понял|поняла",
  uk: "так|ага|угу|добре|зрозуміло|ясно|точно|звичайно|гаразд|вірно",
  tr: "evet|tamam|tabii|peki|anladım|hı hı|doğru|olur|aynen|güzel",
  sv: "ja|jo|okej|just det|precis|jag förstår|bra|visst|aha|javisst",
  da: "ja|jo|okay|præcis|jeg forstår|godt|klart|nemlig|aha",
  nb: "ja|jo|ok|akkurat|jeg skjønner|skjønner|bra|klart|nettopp|aha",
  fi: "joo|juu|kyllä|niin|aivan|okei|selvä|hyvä|ymmärrän|totta|just",
  el: "ναι|εντάξει|σωστά|καλά|κατάλαβα|μάλιστα|ακριβώς|βέβαια",
  cs: "ano|jo|dobře|jasně|rozumím|přesně|aha|chápu",
  hi: "हाँ|हां|जी|जी हाँ|जी हां|अच्छा|ठीक है|ठीक|सही|हम्म|समझ गया|समझ गई",
  ar: "نعم|أجل|ايوه|أيوه|طيب|تمام|حسنا|حسنًا|صحيح|فهمت|أكيد",
  he: "כן|בסדר|הבנתי|נכון|טוב|בטח",
  ja: "はい|ええ|うん|うんうん|そう|そうですね|そうですか|なるほど|わかりました|分かりました|へえ|ほう|オーケー",
  ko: "네|예|응|그래요|그렇군요|그렇죠|맞아요|알겠습니다|알겠어요|아|음|좋아요",
  zh: "嗯|嗯嗯|是|是的|对|对对|好|好的|好吧|行|可以|明白|明白了|知道了|哦|噢",
  vi: "vâng|dạ|ừ|được|đúng rồi|tôi hiểu",
  id: "ya|iya|oke|baik|benar|saya mengerti|betul",
};

/** Said in every language. */
const everywhere =
  "ok|okay|okey|oke|k|mm|mmm|mhm|mmhm|mm hm|mm hmm|mhmm|hm|hmm|hmmm|uh huh|uhuh|aha|ah|oh|ahan|huh|uh|um";

const patterns = new Map<string, RegExp>();

/**
 * Whether `text` only shows that its speaker listens ("uh-huh", "okay, yes") and asks for no turn.
 * `language` is BCP-47; of one that is not known, only what is said everywhere counts.
 */
export function isBackchannel(text: string, language: string): boolean {
  const said = plainWords(text);
  if (said === "") return false;
  const [primary = ""] = language.toLowerCase().split("-");
  return patternOf(primary === "no" ? "nb" : primary).test(
    isUnspaced(said) ? said.replaceAll(" ", "") : said,
  );
}

function patternOf(language: string): RegExp {
  const known = patterns.get(language);
  if (known) return known;
  const all = [everywhere, phrases[language]].filter(Boolean).join("|").normalize("NFKC");
  const border = ["ja", "zh"].includes(language) ? " ?" : "(?: |$)";
  const pattern = new RegExp(`^(?:(?:${all})${border})+$`, "u");
  patterns.set(language, pattern);
  return pattern;
}
