export type Message = { role: string; content: string };

const greeting = "Hello! How can I help you today?";

/** For tests that interrupt: long enough to be speaking still when the caller starts. */
const longReply = [
  "Of course, let me explain how it works.",
  "First, I look up the account that belongs to your phone number.",
  "Then I check whether there are any open orders or appointments.",
  "After that, I read the details back to you, so that you can correct them.",
  "If something has to change, I make a note of it and repeat it once more.",
  "Some changes need the approval of a colleague, which usually takes one working day.",
  "You will get a confirmation by e-mail as soon as it is done.",
  "Is there a particular step you would like to know more about?",
].join(" ");

const intents: readonly (readonly [RegExp, string])[] = [
  [/\b(bye|goodbye|that is all|that's all|that was all)\b/i, "Thank you for calling. Goodbye!"],
  [/\b(long|in detail|tell me everything)\b/i, longReply],
  [
    /\border\D*(\d{3,})/i,
    "Order $1 left our warehouse this morning. It should reach you tomorrow.",
  ],
  [/^\W*(hi|hello|hey|good (morning|afternoon|evening))\b[^a-z]*$/i, greeting],
  [/^\W*(thanks|thank you)\b/i, "You are welcome. Is there anything else I can do for you?"],
];

/** The same words always get the same reply; it takes up what was said last. */
export function replyTo(messages: readonly Message[]): string {
  const said = lastUserText(messages).trim();
  if (!said) return greeting;
  for (const [pattern, reply] of intents) {
    const match = pattern.exec(said);
    if (match) return reply.replace("$1", match[1] ?? "");
  }
  const closed = /[.!?…]$/.test(said) ? said : `${said}.`;
  return `You said: ${closed} How would you like me to help with that?`;
}

export function lastUserText(messages: readonly Message[]): string {
  return messages.findLast(({ role }) => role === "user")?.content ?? "";
}

/** Words with the space before them, as a model's tokens come. */
export function tokensOf(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}
