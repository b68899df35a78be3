import type { ServerResponse } from "node:http";
import * as z from "zod";
import { bytesFromPcm } from "../src/voice/audio/pcm.ts";
import { lastUserText, replyTo, tokensOf } from "./model/replies.ts";
import { answerTo } from "./model/structured.ts";
import type { ModelStandIn } from "./model.ts";
import { pause, readBody } from "./script.ts";
import { nextStep, type SpeechStandIn, sendSound, synthesize } from "./speech.ts";
import type { Recorder, StandIn } from "./stand-in.ts";
import type { TranscriberStandIn } from "./transcriber.ts";
import { sendJson } from "./world/http.ts";

const chatShape = z.object({
  messages: z.array(
    z.object({ role: z.enum(["system", "user", "assistant"]), content: z.string() }),
  ),
  stream: z.boolean().default(false),
  max_tokens: z.int().positive().default(256),
  response_format: z
    .object({ type: z.literal("json_schema"), json_schema: z.record(z.string(), z.unknown()) })
    .optional(),
});

const auraShape = z.object({
  text: z.string().min(1),
  speaker: z.string().default("asteria"),
  encoding: z.literal("linear16"),
  container: z.literal("none"),
  sample_rate: z.literal([8000, 16000, 24000, 32000, 48000]),
});

/** What the runtime's own binding sends: the model is a header, the rest is the body. */
const bodyShape = z.object({ inputs: z.record(z.string(), z.unknown()) });
const modelHeader = "cf-consn-model-id";

type Parts = {
  record: Recorder;
  model: ModelStandIn;
  transcriber: TranscriberStandIn;
  speech: SpeechStandIn;
};

/**
 * The far end of the `AI` binding, which is HTTP: `POST /run`, and a WebSocket on `GET /run`. It
 * follows the scripts of the model, the transcriber and the speech beside it, and records as they do.
 */
export function workersAiStandIn(parts: Parts): StandIn {
  return {
    name: "workers-ai",
    async handle(request, response, path) {
      const model = String(request.headers[modelHeader] ?? "");
      const { pathname } = new URL(path, "http://workers-ai");
      if (pathname !== "/run" || request.method !== "POST" || !model) return fail(response, 404);
      const body = bodyShape.safeParse(await readBody(request));
      if (!body.success) return fail(response, 400);
      const { inputs } = body.data;
      if ("text" in inputs) return speak(response, { ...parts, name: model, inputs });
      return chat(response, { ...parts, name: model, inputs });
    },
    upgrade(request, socket, head, path) {
      const name = String(request.headers[modelHeader] ?? "");
      const inputs = inputsOf(new URL(path, "http://workers-ai"));
      const url = new URL(
        name.includes("/flux") ? "/v2/listen" : "/v1/listen",
        "http://workers-ai",
      );
      url.search = String(new URLSearchParams({ ...inputs, model: name }));
      parts.transcriber.join({ request, socket, head, url, viaWorkersAi: true });
    },
  };
}

/** Nothing of a body that makes no sense: the handshake then lacks what it needs. */
function inputsOf({ searchParams }: URL): Record<string, string> {
  const shape = z.object({ inputs: z.record(z.string(), z.string()) });
  try {
    return shape.parse(JSON.parse(searchParams.get("body") ?? "")).inputs;
  } catch {
    return {};
  }
}

type Run = Parts & { name: string; inputs: Record<string, unknown> };

async function chat(response: ServerResponse, { record, model, name, inputs }: Run): Promise<void> {
  const parsed = chatShape.safeParse(inputs);
  if (!parsed.success) return fail(response, 400);
  const { messages, stream, response_format: format, max_tokens: limit } = parsed.data;
  const asked = lastUserText(messages);
  record("model", { model: name, messages, stream });
  response.once("close", () => {
    if (!response.writableFinished) record("model_left", { text: asked });
  });
  const step = model.script.next(asked) ?? {};
  if (!(await pause(response, step.delayMs))) return;
  if (step.status !== undefined) return fail(response, step.status);
  if (!stream) {
    const answer =
      step.text ?? (format ? answerTo(format.json_schema, messages) : replyTo(messages));
    return sendJson(response, 200, { response: answer });
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (data: unknown) => response.write(`data: ${JSON.stringify(data)}\n\n`);
  for (const [sent, token] of tokensOf(step.text ?? replyTo(messages))
    .slice(0, limit)
    .entries()) {
    if (!(await pause(response, step.tokenDelayMs))) return;
    if (sent === step.breakAfterTokens) {
      // What was written must arrive; the other side shall see a stream without its end.
      response.write("", () => response.destroy());
      return;
    }
    // As the vendor does it: a token that is a number is sent as one.
    send({ response: /^(0|[1-9]\d*)$/.test(token) ? Number(token) : token, p: "abcdef" });
  }
  send({ response: "", usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } });
  response.end("data: [DONE]\n\n");
}

async function speak(
  response: ServerResponse,
  { record, speech, name, inputs }: Run,
): Promise<void> {
  const parsed = auraShape.safeParse(inputs);
  if (!parsed.success) return fail(response, 400);
  const { text, speaker, sample_rate: rate } = parsed.data;
  record("speech", {
    vendor: "workers-ai",
    text,
    voice: speaker,
    model: name,
    format: `pcm_${rate}`,
  });
  const step = await nextStep(response, { record, script: speech.script }, text);
  if (!step) return;
  if (step.status !== undefined) return fail(response, step.status);
  const bytes = bytesFromPcm(await synthesize(text, speaker, rate));
  return sendSound(response, bytes, { ...step, type: "audio/pcm" });
}

function fail(response: ServerResponse, status: number): void {
  const description = "The request was refused.";
  sendJson(response, status, { internalCode: 5000 + status, name: "AiError", description });
}
