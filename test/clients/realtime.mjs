// A conversation with the public client of OpenAI Realtime: `node realtime.mjs <url> text <line>…` by
// text, `… audio <file> <line>` with a microphone that plays the file (PCM16, 24 kHz) into the answer.
// What the client told its application goes to stdout as JSON.
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession } from "@openai/agents-realtime";

const [url, mode, ...rest] = process.argv.slice(2);
const FRAME_BYTES = 960;
const seen = { types: {}, errors: [], audioBytes: 0, interruptions: 0, history: [] };
const session = new RealtimeSession(new RealtimeAgent({ name: "caller" }), {
  transport: new OpenAIRealtimeWebSocket({ url }),
  config: { outputModalities: [mode] },
});
const waiting = [];
/** The next event of this type, from now on. */
const next = (type) => new Promise((resolve) => waiting.push({ type, resolve }));
session.on("transport_event", (event) => {
  seen.types[event.type] = (seen.types[event.type] ?? 0) + 1;
  for (const [index, { type, resolve }] of [...waiting.entries()].reverse()) {
    if (type !== event.type) continue;
    waiting.splice(index, 1);
    resolve(event);
  }
});
session.on("error", (error) => seen.errors.push(error));
session.on("audio", ({ data }) => {
  seen.audioBytes += data.byteLength;
});
session.on("audio_interrupted", () => {
  seen.interruptions += 1;
});

async function type(lines) {
  for (const line of lines) {
    const answered = next("response.done");
    session.sendMessage(line);
    await answered;
  }
}

async function speak(file) {
  const speech = readFileSync(file);
  const transcribed = next("conversation.item.input_audio_transcription.completed");
  let isHeard = false;
  void transcribed.then(() => {
    isHeard = true;
  });
  for (let at = 0; !isHeard; at += FRAME_BYTES) {
    const frame = new Uint8Array(FRAME_BYTES);
    frame.set(speech.subarray(at, at + FRAME_BYTES));
    session.sendAudio(frame.buffer);
    await delay(20);
  }
  await next("response.done");
}

const greeted = next("response.done");
await session.connect({ apiKey: "ek_unused", url });
await greeted;
if (mode === "text") await type(rest);
else {
  const answering = next("response.output_audio.delta");
  session.sendMessage(rest[1]);
  await answering;
  // Until some of the answer is heard.
  await delay(1_500);
  await speak(rest[0]);
}
seen.history = session.history.map(({ role, status, content }) => ({
  role,
  status,
  text: content.map((part) => part.text ?? part.transcript).join(""),
}));
session.close();
console.log(JSON.stringify(seen));
// Until the socket has said goodbye.
await delay(200);
process.exit(0);
