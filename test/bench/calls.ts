import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { buildAssets } from "../../dev/assets.ts";
import { joinCall } from "../../dev/call-client.ts";
import { spokenWithText } from "../../dev/carried-text.ts";
import { openLocalWorld, variablesOf } from "../../dev/local-world.ts";
import { newSecrets } from "../../dev/secrets.ts";
import { synthesize } from "../../dev/speech.ts";
import { type Customer, newCustomers } from "./support/customers.ts";
import { processTime } from "./support/process-time.ts";
import { serveWorker } from "./support/workerd.ts";

const CALLS = 50;
const ORGANIZATIONS = 10;
const SAMPLE_RATE = 16_000;
const FRAME_MS = 20;
const TURNS = 2;

/** Many spoken calls at once: whether all end with the right transcript, and what a frame costs. */
export async function run(): Promise<void> {
  const directory = mkdtempSync(path.join(tmpdir(), "service-bench-"));
  buildAssets();
  const secrets = newSecrets();
  const world = await openLocalWorld({ stateDir: directory, durable: false, secrets });
  try {
    const variables = variablesOf(world, secrets, "http://service.test");
    const server = await serveWorker({
      configPath: "wrangler.toml",
      directory: path.join(directory, "api"),
      variables,
    });
    try {
      const customers = await newCustomers(
        variables,
        `http://127.0.0.1:${server.port}`,
        ORGANIZATIONS,
      );
      // Synthesised once and before: only the service's own work is to be measured.
      const speech = await Promise.all(Array.from({ length: CALLS }, (_, call) => linesOf(call)));
      const before = processTime(server.pid);
      const began = Date.now();
      const calls = await Promise.all(
        speech.map((lines, index) => oneCall(customers[index % ORGANIZATIONS] as Customer, lines)),
      );
      const after = processTime(server.pid);
      report(calls, {
        seconds: (Date.now() - began) / 1_000,
        cpuMs: before && after ? after.cpuMs - before.cpuMs : null,
        waitedMs: before && after ? after.waitedMs - before.waitedMs : null,
      });
    } finally {
      await server.stop();
    }
  } finally {
    await world.close();
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

type Line = { text: string; pcm: Int16Array };

function linesOf(call: number): Promise<Line[]> {
  return Promise.all(
    Array.from({ length: TURNS }, async (_, turn) => {
      const text = `Where is order ${1_000 + call * TURNS + turn}?`;
      const voice = await synthesize(text, "onyx", SAMPLE_RATE);
      return { text, pcm: spokenWithText(text, SAMPLE_RATE, voice) };
    }),
  );
}

type Done = { isRight: boolean; hasEnded: boolean; frames: number; firstSoundMs: number[] };

async function oneCall({ agentId, api }: Customer, lines: readonly Line[]): Promise<Done> {
  const started = await api("POST", "/v1/calls/initiate", { assistantId: agentId, type: "web" });
  const { callId, gateway } = started.body;
  const joined = Date.now();
  const call = await joinCall(gateway.url, { sampleRate: SAMPLE_RATE });
  const firstSoundMs: number[] = [];
  const untilHeard = async (from: number) => {
    const start = await call.until((m) => m.type === "agent_audio_start", {
      from,
      withinMs: 60_000,
    });
    await call.until((m) => m.type === "agent_audio_end", { from, withinMs: 60_000 });
    await delay(call.unplayedMs() + 200);
    return start.at;
  };
  await untilHeard(0);
  for (const { pcm } of lines) {
    const from = call.messages.length;
    await call.say(pcm);
    const saidAt = Date.now() - 400;
    firstSoundMs.push((await untilHeard(from)) - saidAt);
  }
  const frames = Math.round((Date.now() - joined) / FRAME_MS);
  call.close();
  await call.closed;
  const { hasEnded, transcript } = await outcome(api, callId);
  const said = transcript.filter(({ role }) => role === "user").map(({ content }) => content);
  const isRight =
    JSON.stringify(said) === JSON.stringify(lines.map(({ text }) => text)) &&
    transcript.length === 1 + 2 * lines.length &&
    transcript.every(({ interrupted }) => !interrupted);
  return { isRight, hasEnded, frames, firstSoundMs };
}

async function outcome(api: Customer["api"], callId: string) {
  for (let tries = 0; tries < 5; tries++) {
    const { body } = await api("GET", `/v1/calls/${callId}`);
    if (body.data.status === 3) {
      const answer = await api("GET", `/v1/calls/${callId}/transcripts`);
      const transcript: { role: string; content: string; interrupted?: true }[] = answer.body.data;
      return { hasEnded: true, transcript };
    }
    await delay(1_000);
  }
  return { hasEnded: false, transcript: [] };
}

function report(
  calls: readonly Done[],
  cost: { seconds: number; cpuMs: number | null; waitedMs: number | null },
): void {
  const frames = calls.reduce((sum, call) => sum + call.frames, 0);
  const sounds = calls.flatMap(({ firstSoundMs }) => firstSoundMs).sort((a, b) => a - b);
  const at = (share: number) => `${sounds[Math.floor(share * (sounds.length - 1))] ?? "-"} ms`;
  const perFrame = (ms: number | null) =>
    ms === null ? "-" : `${Math.round((ms * 1_000) / frames)} µs`;
  console.log(`
calls at once                ${calls.length}, in ${cost.seconds.toFixed(0)} s, ${TURNS} spoken turns each
ended                        ${calls.filter(({ hasEnded }) => hasEnded).length}
transcripts right            ${calls.filter(({ isRight }) => isRight).length}
CPU for each 20 ms frame     ${perFrame(cost.cpuMs)}, everything of the call included
waited for a core, a frame   ${perFrame(cost.waitedMs)}, what others took
end of speech → first sound  p50 ${at(0.5)}, p95 ${at(0.95)} (stand-ins and clients share the cores)`);
}
