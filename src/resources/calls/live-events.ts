import type { Context } from "../../context.ts";
import { type Failure, isFailure } from "../../errors.ts";
import { findCall } from "./find.ts";
import { isOpen } from "./status.ts";
import { readTranscript } from "./transcript.ts";

/** One event of `text/event-stream`; JSON holds no line break. */
export function serverSentEvent(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** A live call as it happens; of one that is over, what was said and how it ended. */
export async function watchCall(
  ctx: Context,
  id: string,
): Promise<ReadableStream<Uint8Array> | string | Failure> {
  const call = await findCall(ctx, id);
  if (isFailure(call)) return call;
  const live = isOpen(call.status) ? await ctx.sessions(id).watch() : null;
  if (live) return live;
  const entries = await readTranscript(ctx, id);
  if (isFailure(entries)) return entries;
  const after = await findCall(ctx, id);
  if (isFailure(after)) return after;
  return (
    entries.map((entry) => serverSentEvent("transcript", entry)).join("") +
    serverSentEvent("ended", { reason: after.endReason })
  );
}
