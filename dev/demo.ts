import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Webhook } from "standardwebhooks";
import { type CallClient, joinCall, type ServerMessage } from "./call-client.ts";
import { spokenWithText } from "./carried-text.ts";
import { type Demo, openDemo } from "./demo/stack.ts";
import { synthesize } from "./speech.ts";

/** The caller's own voice, so that the two sides sound different. */
const CALLER_VOICE = "onyx";
const SAMPLE_RATE = 16_000;
/** What `spokenWithText` adds behind the last word. */
const SILENCE_AFTER_SPEECH_MS = 400;

const USAGE = "Usage: npm run demo -- [--state DIR]   the stack of that state; default: .state";

function stateFlag(): string {
  try {
    const options = { state: { type: "string", default: ".state" } } as const;
    return parseArgs({ options }).values.state;
  } catch {
    console.error(USAGE);
    process.exit(2);
  }
}

/** The main job, spoken: a key, an agent, a call with an interruption, its transcript, its events. */
async function main() {
  const demo = await openDemo(stateFlag());
  try {
    await run(demo);
  } finally {
    await demo.close();
  }
}

async function run(demo: Demo) {
  const inbox = `demo-${Date.now()}`;
  const key = await demo.api(demo.apiKey, "POST", "/v1/auth/keys", {
    name: "Demo",
    callbackUrl: `${demo.worldUrl}/inbox/${inbox}`,
  });
  const { key: secret, webhookSecret } = key.data;
  step("A key", `${key.data.id}, events go to ${key.data.callbackUrl}`);

  const agent = await demo.api(secret, "POST", "/v1/agents", {
    name: "Ava",
    company_name: "Acme",
    industry: "online retail",
    language: "English",
    voice: "female",
    task_type: "customer support",
  });
  step("An agent", `${agent.data.id}, "Ava"`);

  const started = await demo.api(secret, "POST", "/v1/calls/initiate", {
    assistantId: agent.data.id,
    type: "web",
  });
  step("A call", started.callId);
  await converse(started.gateway.url);

  const call = await untilEnded(demo, secret, started.callId);
  step("Its end", `${call.endReason}, after ${call.durationSeconds} s`);
  const transcript = await demo.api(secret, "GET", `/v1/calls/${started.callId}/transcripts`);
  step("Its transcript", "what each side heard");
  for (const line of transcript.data) {
    say(line.role, line.interrupted ? `${line.content} — (interrupted here)` : line.content);
  }
  const analysis = await untilAnalysed(demo, secret, started.callId);
  step("Its analysis", `${analysis.sentiment}; ${analysis.tags.join(", ") || "no tags"}`);
  console.log(`     ${analysis.summary}`);
  step("Its events", "as they arrived at the inbox");
  await verifyEvents(demo, inbox, webhookSecret);
}

async function converse(url: string) {
  const began = Date.now();
  const call = await joinCall(url, { sampleRate: SAMPLE_RATE });
  const greeting = await reply(call, 0);
  say("assistant", greeting.text, `first sound ${seconds(greeting.heardAt - began)} after joining`);
  await greeting.played();
  await ask(call, "Hello, where is my order 4792?");
  await ask(call, "Please tell me in detail how that works.", { interruptAfterMs: 2_500 });
  await ask(call, "Stop, that is all. Goodbye!");
  call.close();
  await call.closed;
}

/** Speaks a line, waits for the answer, and hears it out or leaves it to be interrupted. */
async function ask(call: CallClient, text: string, options: { interruptAfterMs?: number } = {}) {
  const from = call.messages.length;
  const speech = await synthesize(text, CALLER_VOICE, SAMPLE_RATE);
  say("user", text);
  await call.say(spokenWithText(text, SAMPLE_RATE, speech));
  const saidAt = Date.now() - SILENCE_AFTER_SPEECH_MS;
  const answer = await reply(call, from);
  const latency = Math.max(0, answer.heardAt - saidAt);
  say("assistant", answer.text, `first sound ${seconds(latency)} after you stopped`);
  if (options.interruptAfterMs === undefined) await answer.played();
  else await delay(options.interruptAfterMs);
}

async function reply(call: CallClient, from: number) {
  const fits = (type: string) => (message: ServerMessage) => message.type === type;
  const start = await call.until(fits("agent_audio_start"), { from });
  const whole = await call.until(
    (m) => m.type === "agent_text" && m["final"] === true && m["turn_id"] === start["turn_id"],
    // The greeting's text may come before its sound.
    { from: 0 },
  );
  return {
    text: String(whole["text"]),
    heardAt: start.at,
    async played() {
      // An interrupted reply ends as well, and later than this one was asked for.
      const isOver = (m: ServerMessage) =>
        m.type === "agent_audio_end" && m["turn_id"] === start["turn_id"];
      await call.until(isOver, { from, withinMs: 30_000 });
      await delay(call.unplayedMs());
    },
  };
}

async function untilEnded(demo: Demo, secret: string, callId: string) {
  for (let tries = 0; tries < 50; tries++) {
    const { data } = await demo.api(secret, "GET", `/v1/calls/${callId}`);
    if (data.status >= 3) return data;
    await delay(100);
  }
  throw new Error("The call did not end");
}

async function untilAnalysed(demo: Demo, secret: string, callId: string) {
  for (let tries = 0; tries < 100; tries++) {
    const answer = await demo.ask(secret, "GET", `/v1/calls/${callId}/analysis`);
    if (answer.status === 200) return answer.body.data;
    await delay(100);
  }
  throw new Error("The analysis did not come");
}

type Received = { body: string; headers: Record<string, string> };

async function verifyEvents(demo: Demo, inbox: string, webhookSecret: string) {
  const webhook = new Webhook(webhookSecret);
  for (let tries = 0; tries < 50; tries++) {
    const answer = await fetch(`${demo.worldUrl}/received?kind=inbox&name=${inbox}`);
    const received = (await answer.json()) as Received[];
    if (received.length >= 2) {
      for (const { body, headers } of received) {
        const event = webhook.verify(body, headers) as { type: string; id: string };
        console.log(`     ${event.type.padEnd(16)} signature verified   ${event.id}`);
      }
      return;
    }
    await delay(100);
  }
  throw new Error("The events did not arrive");
}

function step(title: string, detail: string) {
  console.log(`\n${title.padEnd(15)} ${detail}`);
}

function say(role: string, text: string, note?: string) {
  const who = role === "user" ? "caller" : "agent ";
  console.log(`     ${who}  ${text}${note ? `\n             (${note})` : ""}`);
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
