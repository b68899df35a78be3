import { and, eq } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { agents } from "../../db/schema/index.ts";
import { type Failure, failure } from "../../errors.ts";
import type { AgentRow } from "./view.ts";

export async function findAgent(ctx: Context, id: string): Promise<AgentRow | Failure> {
  const [rows] = await ctx.db.read((q) => [
    q
      .select()
      .from(agents)
      .where(and(eq(agents.orgId, ctx.organizationId), eq(agents.id, id))),
  ]);
  return rows[0] ?? failure("agent_not_found", "There is no such agent");
}
