import type { TranscriptEntry } from "../../../db/schema/index.ts";
import type { Analysis } from "./analysis.ts";

/** Between these the caller's lines count as neutral; found on a handful of conversations. */
const CLEAR_SENTIMENT = 0.25;
const MAX_TAGS = 5;
const SUMMARY_LINES = 3;

/** Words that mean a topic, in English: without a model, a plain guess beats none. */
const TOPICS: readonly (readonly [RegExp, string])[] = [
  [/\b(order|parcel|package|delivery|shipping|shipment)\b/i, "delivery"],
  [/\b(refund|money back|return)\b/i, "refund"],
  [/\b(bill|billing|invoice|charge|charged|payment|price)\b/i, "billing"],
  [/\b(appointment|booking|book|schedule|reschedule)\b/i, "appointment"],
  [/\b(cancel|cancellation)\b/i, "cancellation"],
  [/\b(password|login|log in|account)\b/i, "account"],
  [/\b(broken|error|problem|does not work|doesn't work|not working)\b/i, "technical problem"],
  [/\b(complaint|supervisor|manager|unacceptable)\b/i, "complaint"],
];

/**
 * An analysis without a model, for when none answers: the caller's mood by word list, topics by key
 * words, and the lines that hold the facts. English; other languages come out neutral.
 */
export async function analyseOffline(entries: readonly TranscriptEntry[]): Promise<Analysis> {
  const callerLines = entries.filter(({ role }) => role === "user").map(({ content }) => content);
  if (callerLines.length === 0) {
    return { summary: "The caller said nothing.", sentiment: "neutral", tags: [] };
  }
  return {
    summary: summaryOf(entries),
    sentiment: await sentimentOf(callerLines),
    tags: tagsOf(callerLines),
  };
}

/** Loaded when needed: its word list is larger than most of the service. */
async function sentimentOf(lines: readonly string[]): Promise<Analysis["sentiment"]> {
  const { default: vader } = await import("vader-sentiment");
  const scores = lines.map(
    (line) => vader.SentimentIntensityAnalyzer.polarity_scores(line).compound,
  );
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  if (mean >= CLEAR_SENTIMENT) return "positive";
  return mean <= -CLEAR_SENTIMENT ? "negative" : "neutral";
}

function tagsOf(lines: readonly string[]): string[] {
  const text = lines.join(" ");
  const found = TOPICS.filter(([words]) => words.test(text)).map(([, topic]) => topic);
  return [...new Set(found)].slice(0, MAX_TAGS);
}

/** The weightiest lines in their order: facts count, greetings and questions back count less. */
function summaryOf(entries: readonly TranscriptEntry[]): string {
  const [, ...afterGreeting] = entries;
  const weighty = (afterGreeting.length > 0 ? afterGreeting : entries)
    .map((entry, index) => ({ ...entry, index, weight: weightOf(entry) }))
    .sort((a, b) => b.weight - a.weight || a.index - b.index)
    .slice(0, SUMMARY_LINES)
    .sort((a, b) => a.index - b.index);
  return weighty
    .map(({ role, content }) => `${role === "user" ? "Caller" : "Agent"}: ${shorten(content)}`)
    .join(" / ");
}

function weightOf({ role, content }: TranscriptEntry): number {
  const words = Math.min(30, content.split(/\s+/).length);
  const facts = (content.match(/\d+/g)?.length ?? 0) * 4;
  const isSmallTalk = /^\W*(hi|hello|hey|thanks|thank you|bye|goodbye|ok|okay|yes|no)\b/i.test(
    content,
  );
  const asksBack = role === "assistant" && /[?？]\s*$/.test(content);
  return words + facts + (role === "user" ? 5 : 0) - (isSmallTalk ? 10 : 0) - (asksBack ? 8 : 0);
}

function shorten(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 199).trimEnd()}…`;
}
