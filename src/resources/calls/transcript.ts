import { and, eq } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { calls, type TranscriptEntry, transcripts } from "../../db/schema/index.ts";
import { type Failure, failure } from "../../errors.ts";
import { isOpen } from "./status.ts";

/** What the caller heard and said; while the call runs, as far as it has come. */
export async function readTranscript(
  ctx: Context,
  id: string,
): Promise<TranscriptEntry[] | Failure> {
  const recorded = await readRecorded(ctx, id);
  if (!recorded) return failure("call_not_found", "There is no such call");
  if (!isOpen(recorded.status)) return recorded.entries ?? [];
  const live = await ctx.sessions(id).transcript();
  if (live) return live;
  // It ended between the two questions.
  return (await readRecorded(ctx, id))?.entries ?? [];
}

async function readRecorded(ctx: Context, id: string) {
  const [rows] = await ctx.db.read((q) => [
    q
      .select({ status: calls.status, entries: transcripts.entries })
      .from(calls)
      .leftJoin(
        transcripts,
        and(eq(transcripts.orgId, calls.orgId), eq(transcripts.callId, calls.id)),
      )
      .where(and(eq(calls.orgId, ctx.organizationId), eq(calls.id, id))),
  ]);
  return rows[0];
}
