import { languageTag } from "./language.ts";

type Greeting = (name: string, company: string) => string;

/** What a new agent says first, in the languages that the voices speak; elsewhere in English. */
const greetings: Record<string, Greeting> = {
  ar: (n, c) => `مرحبًا، معك ${n} من ${c}. كيف يمكنني مساعدتك اليوم؟`,
  cs: (n, c) => `Dobrý den, tady ${n} ze společnosti ${c}. Jak vám dnes mohu pomoci?`,
  da: (n, c) => `Hej, du taler med ${n} fra ${c}. Hvad kan jeg hjælpe dig med i dag?`,
  de: (n, c) => `Hallo, hier ist ${n} von ${c}. Wie kann ich Ihnen heute helfen?`,
  el: (n, c) => `Γεια σας, είμαι η φωνή ${n} από ${c}. Πώς μπορώ να σας βοηθήσω σήμερα;`,
  en: (n, c) => `Hello, this is ${n} from ${c}. How can I help you today?`,
  es: (n, c) => `Hola, soy ${n} de ${c}. ¿En qué puedo ayudarle hoy?`,
  fi: (n, c) => `Hei, täällä ${n}, ${c}. Miten voin auttaa teitä tänään?`,
  fr: (n, c) => `Bonjour, ici ${n} de ${c}. Comment puis-je vous aider aujourd'hui ?`,
  hi: (n, c) => `नमस्ते, मैं ${c} से ${n} बोल रहा हूँ। आज मैं आपकी क्या मदद कर सकता हूँ?`,
  id: (n, c) => `Halo, ini ${n} dari ${c}. Ada yang bisa saya bantu hari ini?`,
  it: (n, c) => `Buongiorno, sono ${n} di ${c}. Come posso aiutarla oggi?`,
  ja: (n, c) => `お電話ありがとうございます。${c}の${n}です。本日はどのようなご用件でしょうか？`,
  ko: (n, c) => `안녕하세요, ${c}의 ${n}입니다. 오늘 무엇을 도와드릴까요?`,
  nl: (n, c) => `Hallo, u spreekt met ${n} van ${c}. Waarmee kan ik u vandaag helpen?`,
  no: (n, c) => `Hei, du snakker med ${n} fra ${c}. Hva kan jeg hjelpe deg med i dag?`,
  pl: (n, c) => `Dzień dobry, tu ${n} z firmy ${c}. W czym mogę dziś pomóc?`,
  pt: (n, c) => `Olá, aqui é ${n} da ${c}. Como posso ajudar hoje?`,
  ru: (n, c) => `Здравствуйте, это ${n}, компания ${c}. Чем я могу вам помочь сегодня?`,
  sv: (n, c) => `Hej, det här är ${n} från ${c}. Vad kan jag hjälpa dig med i dag?`,
  tr: (n, c) => `Merhaba, ben ${c} şirketinden ${n}. Bugün size nasıl yardımcı olabilirim?`,
  uk: (n, c) => `Вітаю, це ${n}, компанія ${c}. Чим я можу допомогти вам сьогодні?`,
  zh: (n, c) => `您好，我是${c}的${n}。请问今天有什么可以帮您？`,
};

const english = greetings["en"] as Greeting;

export function firstMessage(agent: {
  name: string;
  company_name: string;
  language: string;
}): string {
  const [code = "en"] = (languageTag(agent.language) ?? "en").split("-");
  return (greetings[code] ?? english)(agent.name, agent.company_name);
}
