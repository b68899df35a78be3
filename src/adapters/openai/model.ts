import * as z from "zod";
import { PortError } from "../../ports/failure.ts";
import type { Model } from "../../ports/model.ts";
import { type ChatTimeouts, type Chunk, parseJson, streamReply, wholeAnswer } from "../chat.ts";
import { type Fetch, open } from "../request.ts";

export type OpenAiModelOptions = ChatTimeouts & {
  /** `https://api.openai.com/v1`, or any vendor that speaks the same. */
  baseUrl: string;
  apiKey: string;
  fetch?: Fetch | undefined;
};

/** OpenAI's chat completions. */
export function openAiModel(options: OpenAiModelOptions): Model {
  return {
    stream: ({ model, messages, signal }) =>
      streamReply(signal, options, {
        ask: complete(options, { model, messages, stream: true }),
        read: readChunk,
      }),
    answer({ model, messages, schemaName, schema, signal }) {
      const json_schema = { name: schemaName, strict: true, schema };
      const response_format = { type: "json_schema", json_schema };
      return wholeAnswer(signal, options, {
        ask: complete(options, { model, messages, response_format }),
        read: readAnswer,
      });
    },
  };
}

function complete(
  { baseUrl, apiKey, fetch: send = (url, init) => fetch(url, init) }: OpenAiModelOptions,
  body: Record<string, unknown>,
) {
  return (signal: AbortSignal) =>
    open(send, `${baseUrl}/chat/completions`, {
      method: "POST",
      signal,
      headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` },
      body: JSON.stringify(body),
    });
}

function readChunk(data: string): Chunk {
  const { choices, error } = parseJson(chunkShape, data);
  if (error !== undefined) throw new PortError("unavailable");
  // The last chunk may have no choices and only tell the usage.
  const choice = choices?.[0];
  return { text: choice?.delta?.content, finished: Boolean(choice?.finish_reason) };
}

function readAnswer(text: string): unknown {
  const { message } = parseJson(answerShape, text).choices[0];
  if (message.refusal) throw new PortError("refused");
  return parseJson(z.unknown(), message.content ?? "");
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
