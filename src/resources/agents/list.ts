import { count, desc, eq } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { agents } from "../../db/schema/index.ts";
import type { AgentRow } from "./view.ts";

export async function listAgents(
  ctx: Context,
  page: { page: number; pageSize: number },
): Promise<{ rows: AgentRow[]; totalCount: number }> {
  const own = eq(agents.orgId, ctx.organizationId);
  const [rows, [total]] = await ctx.db.read((q) => [
    q
      .select()
      .from(agents)
      .where(own)
      .orderBy(desc(agents.createdAt), desc(agents.id))
      .limit(page.pageSize)
      .offset((page.page - 1) * page.pageSize),
    q.select({ count: count() }).from(agents).where(own),
  ]);
  return { rows, totalCount: total?.count ?? 0 };
}
