const digits = String.raw`\d+(?:[.,'’\u00A0\u202F]\d+)*`;

/** Signs and codes of money. "$" is the dollar of the language's country. */
const currencies: Record<string, string> = {
  $: "USD",
  "€": "EUR",
  "£": "GBP",
  "¥": "JPY",
  "₹": "INR",
  "₩": "KRW",
  "₽": "RUB",
  "₺": "TRY",
  "₴": "UAH",
  "₫": "VND",
  "₪": "ILS",
  R$: "BRL",
};
const codes = "USD|EUR|GBP|JPY|INR|CNY|CHF|CAD|AUD|NZD|SEK|NOK|DKK|PLN|BRL|MXN|KRW|TRY|AED|SAR";
const dollars: Record<string, string> = { CA: "CAD", AU: "AUD", NZ: "NZD", SG: "SGD", MX: "MXN" };

/** Units by their signs; a sign that is also a word ("in") is none. */
const units: Record<string, string> = {
  "%": "percent",
  "°C": "celsius",
  "°F": "fahrenheit",
  "°": "degree",
  "km/h": "kilometer-per-hour",
  mph: "mile-per-hour",
  km: "kilometer",
  cm: "centimeter",
  mm: "millimeter",
  m: "meter",
  ft: "foot",
  kg: "kilogram",
  mg: "milligram",
  g: "gram",
  lbs: "pound",
  lb: "pound",
  oz: "ounce",
  ml: "milliliter",
  l: "liter",
  L: "liter",
  TB: "terabyte",
  GB: "gigabyte",
  MB: "megabyte",
  kB: "kilobyte",
  KB: "kilobyte",
  h: "hour",
  hrs: "hour",
  min: "minute",
  ms: "millisecond",
};

const escaped = (names: string[]) => names.map((name) => name.replaceAll("$", "\\$")).join("|");
const signs = escaped(Object.keys(currencies).toSorted((a, b) => b.length - a.length));
const large = String.raw`(?!\s?(?:k|[mb]n|million|billion|trillion|mio|mrd)\b)`;
const moneyBefore = new RegExp(
  `(${signs}|\\b(?:${codes}))\\s?(${digits})(?![\\p{L}\\p{N}])${large}`,
  "giu",
);
const moneyAfter = new RegExp(
  `(?<![\\p{L}\\p{N}.,])(${digits})\\s?(${signs}|(?:${codes})\\b)(?!\\s?\\d)`,
  "gu",
);
const measure = new RegExp(
  `(?<![\\p{L}\\p{N}.,])(${digits})\\s?(${escaped(Object.keys(units))})(?![\\p{L}\\p{N}/²³])`,
  "gu",
);
/** Nobody understands a number so long; an account or telephone number is read digit by digit. */
const long = /(?<![\p{L}\p{N}.,])\d{7,}(?![\p{L}\p{N}])/gu;

/** Money, measures and long numbers in words of the language; the figures stay as written. */
export function sayQuantities(text: string, language: string): string {
  const { locale, country } = regionOf(language);
  const money = (sign: string, figure: string) => {
    const known = currencies[sign] ?? sign.toUpperCase();
    const currency = sign === "$" ? (dollars[country] ?? known) : known;
    const said = inWords(figure, locale, { style: "currency", currency, currencyDisplay: "name" });
    return sign === "$" && said ? said.replace("US dollar", "dollar") : said;
  };
  return text
    .replace(moneyBefore, (all, sign, figure) => money(sign, figure) ?? all)
    .replace(moneyAfter, (all, figure, sign) => money(sign, figure) ?? all)
    .replace(measure, (all, figure, sign) => {
      const unit = units[sign] ?? "";
      return inWords(figure, locale, { style: "unit", unit, unitDisplay: "long" }) ?? all;
    })
    .replace(long, (figure) => [...figure].join(" "));
}

/** The runtime knows the words and their plurals; only its way to write the figures is not taken. */
function inWords(
  figure: string,
  locale: string,
  options: Intl.NumberFormatOptions,
): string | undefined {
  const value = amountOf(figure);
  const parts = formatOf(locale, options).formatToParts(value);
  const first = parts.findIndex(({ type }) => figures.includes(type));
  const last = parts.findLastIndex(({ type }) => figures.includes(type));
  if (first < 0) return undefined;
  const before = parts.slice(0, first).map((part) => part.value);
  const after = parts.slice(last + 1).map((part) => part.value);
  return [...before, figure, ...after].join("");
}

const figures = ["integer", "group", "decimal", "fraction"];

/** Only good enough to choose between singular and plural. */
function amountOf(figure: string): number {
  const [, whole = "", fraction = ""] = /^(.*?)(?:[.,](\d{1,2}|\d{4,}))?$/u.exec(figure) ?? [];
  return Number(`${whole.replace(/\D/gu, "")}.${fraction}`);
}

const formats = new Map<string, Intl.NumberFormat>();

function formatOf(locale: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `${locale} ${options.currency ?? options.unit}`;
  const known = formats.get(key);
  if (known) return known;
  const format = new Intl.NumberFormat(locale, { ...options, minimumFractionDigits: 0 });
  formats.set(key, format);
  return format;
}

function regionOf(language: string): { locale: string; country: string } {
  try {
    const { baseName, region } = new Intl.Locale(language);
    return { locale: baseName, country: region ?? "" };
  } catch {
    return { locale: "en", country: "" };
  }
}
