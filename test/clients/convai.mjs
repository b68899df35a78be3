// A conversation by text with the public client of ElevenLabs Agents: `node convai.mjs <url> <line>…`.
// What the client told its application goes to stdout as JSON.
import { Conversation } from "@elevenlabs/client";

const [signedUrl, ...lines] = process.argv.slice(2);
const seen = { messages: [], parts: [], errors: [], connectedTo: null, end: null };
let onMessage = () => undefined;
const nextOf = (role) =>
  new Promise((resolve) => {
    onMessage = (message) => message.role === role && resolve(message);
  });
const greeted = nextOf("agent");
const disconnected = Promise.withResolvers();

const conversation = await Conversation.startSession({
  signedUrl,
  textOnly: true,
  onConnect: ({ conversationId }) => {
    seen.connectedTo = conversationId;
  },
  onMessage: (message) => {
    seen.messages.push({ role: message.role, text: message.message });
    onMessage(message);
  },
  onAgentChatResponsePart: ({ type, text }) => seen.parts.push({ type, text }),
  onError: (message) => seen.errors.push(message),
  onDisconnect: disconnected.resolve,
});
await greeted;
for (const line of lines) {
  const answered = nextOf("agent");
  conversation.sendUserActivity();
  conversation.sendUserMessage(line);
  await answered;
}
await conversation.endSession();
seen.end = await disconnected.promise;
console.log(JSON.stringify(seen));
process.exit(0);
