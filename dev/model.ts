import type { IncomingMessage, ServerResponse } from "node:http";
import * as z from "zod";
import { lastUserText, type Message, replyTo, tokensOf } from "./model/replies.ts";
import { answerTo } from "./model/structured.ts";
import { createScript, pause, readBody, type Script, stepShape } from "./script.ts";
import type { Recorder, StandIn } from "./stand-in.ts";
import { sendJson } from "./world/http.ts";

/** One reply decided by a test; without `text` the model says what it would have said. */
export type ScriptedReply = z.infer<typeof replyShape>;

const replyShape = z.strictObject({
  ...stepShape,
  text: z.string().optional(),
  tokenDelayMs: z.number().nonnegative().optional(),
  /** Cuts the connection after so many tokens. */
  breakAfterTokens: z.int().nonnegative().optional(),
});

const requestShape = z.object({
  model: z.string(),
  messages: z.array(
    z.object({ role: z.enum(["system", "developer", "user", "assistant"]), content: z.string() }),
  ),
  stream: z.boolean().default(false),
  stream_options: z.object({ include_usage: z.boolean().default(false) }).optional(),
  response_format: z
    .object({
      type: z.string(),
      json_schema: z
        .object({ name: z.string(), schema: z.record(z.string(), z.unknown()) })
        .optional(),
    })
    .optional(),
});
type ChatRequest = z.infer<typeof requestShape>;

export type ModelStandIn = StandIn & { script: Script<ScriptedReply> };

/**
 * A reasoning model that speaks OpenAI's chat completions. The same messages always get the same
 * reply; `POST /script { replies: [...] }` decides the next ones. Records `model` for each request
 * and `model_left` when the asking side hangs up before the end.
 */
export function modelStandIn({ record }: { record: Recorder }): ModelStandIn {
  const script = createScript("replies", replyShape);
  return {
    name: "model",
    script,
    async handle(request, response, path) {
      const { pathname } = new URL(path, "http://model");
      if (pathname === "/script") return script.handle(request, response);
      if (!/^Bearer \S+$/.test(request.headers.authorization ?? "")) {
        return fail(response, 401, "invalid_api_key", "No API key provided.");
      }
      if (pathname === "/v1/models") return sendJson(response, 200, models);
      if (pathname !== "/v1/chat/completions") {
        return fail(response, 404, "not_found", "Unknown endpoint.");
      }
      return complete(request, response, { record, script });
    },
  };
}

const models = {
  object: "list",
  data: ["gpt-4o-mini", "gpt-4o"].map((id) => ({
    id,
    object: "model",
    created: 0,
    owned_by: "local",
  })),
};

type Parts = { record: Recorder; script: Script<ScriptedReply> };

async function complete(
  request: IncomingMessage,
  response: ServerResponse,
  { record, script }: Parts,
): Promise<void> {
  const parsed = requestShape.safeParse(await readBody(request));
  if (!parsed.success) {
    return fail(response, 400, "invalid_request", z.prettifyError(parsed.error));
  }
  const { model, messages, stream } = parsed.data;
  record("model", { model, messages, stream });
  response.once("close", () => {
    if (!response.writableFinished) record("model_left", { text: lastUserText(messages) });
  });

  const reply = script.next(lastUserText(messages)) ?? {};
  if (!(await pause(response, reply.delayMs))) return;
  if (reply.status !== undefined) {
    return fail(response, reply.status, "scripted", "The script asked for this.");
  }
  const text = reply.text ?? contentFor(parsed.data);
  if (stream) return streamReply(response, parsed.data, { ...reply, text });
  const choice = { index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" };
  sendJson(response, 200, {
    ...envelope("chat.completion", model),
    choices: [choice],
    usage: usageOf(messages, text),
  });
}

function contentFor({ messages, response_format }: ChatRequest): string {
  const schema = response_format?.json_schema?.schema;
  return schema ? JSON.stringify(answerTo(schema, messages)) : replyTo(messages);
}

async function streamReply(
  response: ServerResponse,
  { model, messages, stream_options }: ChatRequest,
  { text, tokenDelayMs, breakAfterTokens }: ScriptedReply & { text: string },
): Promise<void> {
  const wantsUsage = stream_options?.include_usage === true;
  const send = (choices: unknown[], usage: unknown = null) => {
    const chunk = { ...envelope("chat.completion.chunk", model), choices };
    response.write(`data: ${JSON.stringify(wantsUsage ? { ...chunk, usage } : chunk)}\n\n`);
  };
  const delta = (change: Record<string, string>, finish_reason: string | null = null) =>
    send([{ index: 0, delta: change, finish_reason }]);

  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  delta({ role: "assistant", content: "" });
  for (const [sent, content] of tokensOf(text).entries()) {
    if (!(await pause(response, tokenDelayMs))) return;
    if (sent === breakAfterTokens) {
      // What was written must arrive; the other side shall see a stream without its end.
      response.write("", () => response.destroy());
      return;
    }
    delta({ content });
  }
  delta({}, "stop");
  if (wantsUsage) send([], usageOf(messages, text));
  response.end("data: [DONE]\n\n");
}

function envelope(object: string, model: string) {
  return { id: "chatcmpl-local", object, created: Math.floor(Date.now() / 1000), model };
}

function usageOf(messages: readonly Message[], text: string) {
  const prompt_tokens = messages.reduce((sum, { content }) => sum + tokensOf(content).length, 0);
  const completion_tokens = tokensOf(text).length;
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

function fail(response: ServerResponse, status: number, code: string, message: string): void {
  sendJson(response, status, { error: { message, type: "invalid_request_error", code } });
}
