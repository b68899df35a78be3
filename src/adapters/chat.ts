import { createParser } from "eventsource-parser";
import type * as z from "zod";
import { PortError } from "../ports/failure.ts";
import { piecesOf, watch } from "./request.ts";

export type ChatTimeouts = {
  firstTokenTimeoutMs: number;
  /** Between two tokens; by default 5 s. */
  idleTimeoutMs?: number | undefined;
  /** For a whole structured answer; by default 60 s. */
  answerTimeoutMs?: number | undefined;
};

/** Sends the request and gives the body of a good answer; throws `PortError` for a bad one. */
export type Ask = (signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>;

export type Chunk = { text?: string | null | undefined; finished?: boolean };

/** One reply from an event stream that ends with `[DONE]`; `read` knows the vendor's chunks. */
export async function* streamReply(
  signal: AbortSignal,
  { firstTokenTimeoutMs, idleTimeoutMs = 5000 }: ChatTimeouts,
  { ask, read }: { ask: Ask; read(data: string): Chunk },
): AsyncGenerator<string> {
  const request = watch(signal);
  const reply = createReplyReader(read);
  try {
    request.within(firstTokenTimeoutMs);
    const body = await ask(request.signal);
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

/** One whole answer, as `read` finds it in the text of the body. */
export async function wholeAnswer(
  signal: AbortSignal,
  { answerTimeoutMs = 60_000 }: ChatTimeouts,
  { ask, read }: { ask: Ask; read(text: string): unknown },
): Promise<unknown> {
  const request = watch(signal);
  try {
    request.within(answerTimeoutMs);
    return read(await new Response(await ask(request.signal)).text());
  } catch (error) {
    throw request.failure(error);
  } finally {
    request.end();
  }
}

/** Turns the bytes of an event stream into the pieces of text that are complete. */
function createReplyReader(read: (data: string) => Chunk) {
  const decoder = new TextDecoder();
  let tokens: string[] = [];
  let finished = false;
  const parser = createParser({
    onEvent({ data }) {
      if (data === "[DONE]") {
        finished = true;
        return;
      }
      const chunk = read(data);
      if (chunk.text) tokens.push(chunk.text);
      if (chunk.finished) finished = true;
    },
  });
  return {
    push(bytes: Uint8Array): string[] {
      tokens = [];
      parser.feed(decoder.decode(bytes, { stream: true }));
      return tokens;
    },
    finished: () => finished,
  };
}

export function parseJson<T>(shape: z.ZodType<T>, text: string): T {
  try {
    return shape.parse(JSON.parse(text));
  } catch {
    throw new PortError("garbled");
  }
}
