import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { spokenWithText } from "../../dev/carried-text.ts";
import { synthesize } from "../../dev/speech.ts";
import { bytesFromPcm } from "../../src/voice/audio/pcm.ts";
import { agentInput } from "../support/agent-input.ts";
import { apiClient } from "../support/node/api.ts";
import { projectRoot, type StackProcess, startStackProcess } from "../support/node/stack.ts";

const GREETING = "Hello, this is Ava from Acme. How can I help you today?";
/** The clients are packages of their own: nothing of the service depends on them. */
const folder = path.join(projectRoot, "test", "clients");
const run = promisify(execFile);
let stack: StackProcess;

beforeAll(async () => {
  await run(process.execPath, [path.join(projectRoot, "dev", "ensure.mjs")], { cwd: folder });
  stack = await startStackProcess();
});
afterAll(async () => {
  await stack.stop();
});

async function newCall(dialect?: "convai" | "realtime") {
  const api = apiClient(stack.ready.baseUrl, stack.ready.apiKey);
  const agent = await api("POST", "/v1/agents", agentInput);
  const json = { assistantId: agent.body.data.id, type: "web", ...(dialect && { dialect }) };
  const { status, body } = await api("POST", "/v1/calls/initiate", json);
  expect(status).toBe(201);
  return {
    callId: body.callId as string,
    url: body.gateway.url as string,
    /** Transcript and reason, once the call is over. */
    ended: () =>
      vi.waitFor(
        async () => {
          const { data } = (await api("GET", `/v1/calls/${body.callId}`)).body;
          expect(data.status).toBe(3);
          const transcript = await api("GET", `/v1/calls/${body.callId}/transcripts`);
          const lines = transcript.body.data as { role: string; content: string }[];
          return { reason: data.endReason as string, lines };
        },
        { timeout: 20_000, interval: 100 },
      ),
  };
}

async function converse(client: string, ...args: string[]) {
  const { stdout } = await run(process.execPath, [path.join(folder, client), ...args], {
    timeout: 60_000,
  });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}

test("the public client of ElevenLabs Agents holds a conversation by text, unchanged", async () => {
  const call = await newCall();
  const seen = await converse("convai.mjs", call.url, "Where is my parcel?", "Thanks.");
  const { reason, lines } = await call.ended();
  expect(seen.errors).toEqual([]);
  expect(seen.connectedTo).toBe(call.callId);
  expect(seen.end).toEqual({ reason: "user" });
  expect(lines.map(({ role }) => role)).toEqual([
    "assistant",
    "user",
    "assistant",
    "user",
    "assistant",
  ]);
  expect(lines[0]?.content).toBe(GREETING);
  const asTold = lines.map(({ role, content }) => ({
    role: role === "assistant" ? "agent" : "user",
    text: content,
  }));
  expect(seen.messages).toEqual(asTold);
  const grown = seen.parts.map(({ text }: { text: string }) => text).join("");
  expect(grown).toBe(`${lines[2]?.content}${lines[4]?.content}`);
  expect(reason).toBe("hangup");
});

test("the public client of OpenAI Realtime holds a conversation by text, unchanged", async () => {
  const call = await newCall("realtime");
  const seen = await converse("realtime.mjs", call.url, "text", "Where is my parcel?", "Thanks.");
  const { reason, lines } = await call.ended();
  expect(seen.errors).toEqual([]);
  expect(seen.types["session.created"]).toBe(1);
  expect(seen.history).toEqual(
    lines.map(({ role, content }) => ({ role, status: "completed", text: content })),
  );
  expect(lines).toHaveLength(5);
  expect(seen.audioBytes).toBe(0);
  expect(reason).toBe("hangup");
});

test("the public client of OpenAI Realtime is interrupted by voice, and knows what was heard", async () => {
  const words = "Wait, where is my parcel?";
  const rate = 24_000;
  const speech = spokenWithText(words, rate, await synthesize(words, "onyx", rate));
  const file = path.join(stack.stateDir, "speech.pcm");
  writeFileSync(file, bytesFromPcm(speech));
  const call = await newCall("realtime");
  const long = "Please explain it in detail.";
  const seen = await converse("realtime.mjs", call.url, "audio", file, long);
  const { lines } = await call.ended();
  expect(seen.errors).toEqual([]);
  expect(seen.audioBytes).toBeGreaterThan(0);
  expect(seen.interruptions).toBe(2);
  // The last answer was hung up on, so its client knows more of it than was heard.
  const answered = lines.findLastIndex(({ role }) => role === "user") + 1;
  const history: { role: string; text: string }[] = seen.history.slice(0, -1);
  expect(history.map(({ role, text }) => ({ role, content: text }))).toEqual(
    lines.slice(0, answered).map(({ role, content }) => ({ role, content })),
  );
  expect(lines[answered - 1]?.content).toBe(words);
  const interrupted = lines[answered - 2];
  expect(interrupted).toMatchObject({ role: "assistant", interrupted: true });
  expect(interrupted?.content).toMatch(/^Of course,/);
  expect(seen.history.at(-1)).toMatchObject({ role: "assistant", status: "completed" });
});
