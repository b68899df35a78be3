import { and, eq } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { calls } from "../../db/schema/index.ts";
import { type Failure, failure } from "../../errors.ts";
import type { CallRow } from "./view.ts";

export async function findCall(ctx: Context, id: string): Promise<CallRow | Failure> {
  const [rows] = await ctx.db.read((q) => [
    q
      .select()
      .from(calls)
      .where(and(eq(calls.orgId, ctx.organizationId), eq(calls.id, id))),
  ]);
  return rows[0] ?? failure("call_not_found", "There is no such call");
}
