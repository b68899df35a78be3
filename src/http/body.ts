import type { Context } from "hono";
import { failure } from "../errors.ts";
import { Refusal } from "./refusal.ts";

const MAX_JSON_BYTES = 1024 * 1024;

/** Reads no more than the limit, whatever the length header says. */
export async function readText(c: Context): Promise<string> {
  // Hono keeps promises here, whatever the type says.
  const known = await (c.req.bodyCache.text as unknown as Promise<string> | undefined);
  if (known !== undefined) return known;
  const tooLarge = new Refusal(
    failure("payload_too_large", `A JSON body has at most ${MAX_JSON_BYTES} bytes`),
  );
  if (Number(c.req.header("content-length") ?? 0) > MAX_JSON_BYTES) throw tooLarge;
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  const decode = (...chunk: Parameters<TextDecoder["decode"]>) => {
    try {
      return decoder.decode(...chunk);
    } catch {
      throw new Refusal(failure("validation_failed", "The body is not valid UTF-8"));
    }
  };
  let text = "";
  let size = 0;
  for await (const chunk of c.req.raw.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_JSON_BYTES) throw tooLarge;
    text += decode(chunk, { stream: true });
  }
  text += decode();
  c.req.bodyCache.text = Promise.resolve(text) as unknown as string;
  return text;
}
