import * as z from "zod";
import { PortError } from "../../ports/failure.ts";
import type { Model } from "../../ports/model.ts";
import { type ChatTimeouts, type Chunk, parseJson, streamReply, wholeAnswer } from "../chat.ts";
import { run, type WorkersAi } from "./binding.ts";

export type WorkersAiModelOptions = ChatTimeouts & { ai: WorkersAi };

/** The vendor's own limit is 256 tokens, which cuts an answer in the middle of its JSON. */
const maxTokens = 2048;

/** Text generation on Workers AI. */
export function workersAiModel(options: WorkersAiModelOptions): Model {
  const ask = (model: string, inputs: Record<string, unknown>) => (signal: AbortSignal) =>
    run(options.ai, model, { ...inputs, max_tokens: maxTokens }, signal);
  return {
    stream: ({ model, messages, signal }) =>
      streamReply(signal, options, {
        ask: ask(model, { messages, stream: true }),
        read: readChunk,
      }),
    answer({ model, messages, schema, signal }) {
      const response_format = { type: "json_schema", json_schema: schema };
      return wholeAnswer(signal, options, {
        ask: ask(model, { messages, response_format }),
        read: readAnswer,
      });
    },
  };
}

/** Older models answer with `response`, newer ones in OpenAI's form, some with both. */
function readChunk(data: string): Chunk {
  const { response, choices, error, errors } = parseJson(chunkShape, data);
  if (error !== undefined || errors !== undefined) throw new PortError("unavailable");
  return { text: choices?.[0]?.delta?.content ?? response?.toString() };
}

function readAnswer(text: string): unknown {
  const { response, choices } = parseJson(answerShape, text);
  const answer = response ?? choices?.[0]?.message.content ?? "";
  return typeof answer === "string" ? parseJson(z.unknown(), answer) : answer;
}

const chunkShape = z.object({
  /** A token that is a number comes as one. */
  response: z.union([z.string(), z.number()]).nullish(),
  choices: z
    .array(z.object({ delta: z.object({ content: z.string().nullish() }).nullish() }))
    .nullish(),
  error: z.unknown().optional(),
  errors: z.unknown().optional(),
});

const answerShape = z.object({
  /** JSON, already parsed by most models. */
  response: z.unknown().optional(),
  choices: z.array(z.object({ message: z.object({ content: z.string().nullish() }) })).nullish(),
});
