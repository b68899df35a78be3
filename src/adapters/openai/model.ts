import { createParser } from "eventsource-parser";
import * as z from "zod";
import { PortError } from "../../ports/failure.ts";
import type { Model, ModelRequest, StructuredRequest } from "../../ports/model.ts";
import { type Fetch, open, piecesOf, type Watch, watch } from "../request.ts";

export type OpenAiModelOptions = {
  /** `https://api.openai.com/v1`, or any vendor that speaks the same. */
  baseUrl: string;
  apiKey: string;
  firstTokenTimeoutMs: number;
  /** Between two tokens; by default 5 s. */
  idleTimeoutMs?: number | undefined;
  /** For a whole structured answer; by default 60 s. */
  answerTimeoutMs?: number | undefined;
  fetch?: Fetch | undefined;
};

/** OpenAI's chat completions. */
export function openAiModel(options: OpenAiModelOptions): Model {
  return {
    stream: (request) => stream(options, request),
    answer: (request) => answer(options, request),
  };
}

async function* stream(
  options: OpenAiModelOptions,
  { model, messages, signal }: ModelRequest,
): AsyncGenerator<string> {
  const { firstTokenTimeoutMs, idleTimeoutMs = 5000 } = options;
  const request = watch(signal);
  const reply = createReplyReader();
  try {
    request.within(firstTokenTimeoutMs);
    const body = await complete(options, request, { model, messages, stream: true });
    // To the very end, past the last token: only then can the connection serve the next turn.
    for await (const bytes of piecesOf(body)) {
      const tokens = reply.push(bytes);
      if (tokens.length === 0) continue;
      // A slow listener is not the vendor's delay.
      request.rest();
      for (const token of tokens) {
        request.check();
        yield token;
      }
      request.within(idleTimeoutMs);
    }
    if (!reply.finished()) throw new PortError("unavailable");
  } catch (error) {
    const failure = request.failure(error);
    if (failure.code === "aborted" || !reply.finished()) throw failure;
  } finally {
    request.end();
  }
}

async function answer(
  options: OpenAiModelOptions,
  { model, messages, schemaName, schema, signal }: StructuredRequest,
): Promise<unknown> {
  const request = watch(signal);
  try {
    request.within(options.answerTimeoutMs ?? 60_000);
    const json_schema = { name: schemaName, strict: true, schema };
    const response_format = { type: "json_schema", json_schema };
    const body = await complete(options, request, { model, messages, response_format });
    const text = await new Response(body).text();
    const message = parse(answerShape, text).choices[0].message;
    if (message.refusal) throw new PortError("refused");
    return parse(z.unknown(), message.content ?? "");
  } catch (error) {
    throw request.failure(error);
  } finally {
    request.end();
  }
}

function complete(
  { baseUrl, apiKey, fetch: send = (url, init) => fetch(url, init) }: OpenAiModelOptions,
  request: Watch,
  body: Record<string, unknown>,
): Promise<ReadableStream<Uint8Array>> {
  return open(send, `${baseUrl}/chat/completions`, {
    method: "POST",
    signal: request.signal,
    headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` },
    body: JSON.stringify(body),
  });
}

/** Turns the bytes of an event stream into the pieces of text that are complete. */
function createReplyReader(): { push(bytes: Uint8Array): string[]; finished(): boolean } {
  const decoder = new TextDecoder();
  let tokens: string[] = [];
  let finished = false;
  const parser = createParser({
    onEvent({ data }) {
      if (data === "[DONE]") {
        finished = true;
        return;
      }
      const { choices, error } = parse(chunkShape, data);
      if (error !== undefined) throw new PortError("unavailable");
      // The last chunk may have no choices and only tell the usage.
      const choice = choices?.[0];
      if (choice?.delta?.content) tokens.push(choice.delta.content);
      if (choice?.finish_reason) finished = true;
    },
  });
  return {
    push(bytes) {
      tokens = [];
      parser.feed(decoder.decode(bytes, { stream: true }));
      return tokens;
    },
    finished: () => finished,
  };
}

const chunkShape = z.object({
  choices: z
    .array(
      z.object({
        delta: z.object({ content: z.string().nullish() }).nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  error: z.unknown().optional(),
});

const answerShape = z.object({
  choices: z.tuple([
    z.object({
      message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
    }),
  ]),
});

function parse<T>(shape: z.ZodType<T>, text: string): T {
  try {
    return shape.parse(JSON.parse(text));
  } catch {
    throw new PortError("garbled");
  }
}
