/** How the signs of an address are said: at, dot, slash, dash, underscore. */
type Signs = readonly [at: string, dot: string, slash: string, dash: string, underscore: string];

const english: Signs = ["at", "dot", "slash", "dash", "underscore"];
const signs: Record<string, Signs> = {
  en: english,
  es: ["arroba", "punto", "barra", "guion", "guion bajo"],
  fr: ["arobase", "point", "slash", "tiret", "tiret bas"],
  de: ["ät", "Punkt", "Schrägstrich", "Minus", "Unterstrich"],
  it: ["chiocciola", "punto", "barra", "trattino", "trattino basso"],
  pt: ["arroba", "ponto", "barra", "hífen", "sublinhado"],
  nl: ["apenstaartje", "punt", "slash", "streepje", "underscore"],
  pl: ["małpa", "kropka", "ukośnik", "myślnik", "podkreślnik"],
  ru: ["собака", "точка", "слэш", "дефис", "подчёркивание"],
  tr: ["et", "nokta", "eğik çizgi", "tire", "alt çizgi"],
  sv: ["snabel-a", "punkt", "snedstreck", "bindestreck", "understreck"],
  hi: ["ऐट", "डॉट", "स्लैश", "डैश", "अंडरस्कोर"],
  ar: ["آت", "نقطة", "شرطة مائلة", "شرطة", "شرطة سفلية"],
  ja: ["アットマーク", "ドット", "スラッシュ", "ハイフン", "アンダーバー"],
  ko: ["골뱅이", "점", "슬래시", "하이픈", "밑줄"],
  zh: ["艾特", "点", "斜杠", "横杠", "下划线"],
};

const email = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/gu;
/** With a scheme or "www."; or a bare name under a domain that words rarely end in. */
const web =
  /(?:https?:\/\/|\bwww\.)[^\s<>"“”]+|\b[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*\.(?:com|org|net|io|dev|app|ai|co\.uk|gov|edu)\b(?:\/[^\s<>"“”]*)?/giu;

/** E-mail and web addresses as one reads them out; of a link only what a listener can use. */
export function sayAddresses(text: string, language: string): string {
  const words = signs[language.toLowerCase().split("-")[0] ?? ""] ?? english;
  return text
    .replace(email, (address) => spell(address, words))
    .replace(web, (address) => {
      const end = /[.,;:!?)\]}'’]*$/u.exec(address)?.[0] ?? "";
      return spell(usable(address.slice(0, address.length - end.length)), words) + end;
    });
}

function usable(address: string): string {
  return address
    .replace(/^https?:\/\//iu, "")
    .replace(/^www\./iu, "")
    .replace(/[?#].*$/u, "")
    .replace(/\/$/u, "");
}

function spell(address: string, [at, dot, slash, dash, underscore]: Signs): string {
  const said: Record<string, string> = {
    "@": at,
    ".": dot,
    "/": slash,
    "-": dash,
    _: underscore,
    "+": "plus",
  };
  return address.replace(/[@./_+-]/gu, (sign) => ` ${said[sign]} `);
}
