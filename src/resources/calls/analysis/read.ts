import { and, eq } from "drizzle-orm";
import type { Context } from "../../../context.ts";
import { analyses, calls } from "../../../db/schema/index.ts";
import { type Failure, failure } from "../../../errors.ts";
import type { Analysis } from "./analysis.ts";

export async function readAnalysisOf(ctx: Context, callId: string): Promise<Analysis | Failure> {
  const [rows] = await ctx.db.read((q) => [
    q
      .select({
        summary: analyses.summary,
        sentiment: analyses.sentiment,
        tags: analyses.tags,
      })
      .from(calls)
      .leftJoin(analyses, and(eq(analyses.orgId, calls.orgId), eq(analyses.callId, calls.id)))
      .where(and(eq(calls.orgId, ctx.organizationId), eq(calls.id, callId))),
  ]);
  const [row] = rows;
  if (!row) return failure("call_not_found", "There is no such call");
  const { summary, sentiment, tags } = row;
  if (summary === null || sentiment === null || tags === null) {
    return failure("analysis_not_ready", "The analysis is made after the call; try again shortly");
  }
  return { summary, sentiment, tags };
}
