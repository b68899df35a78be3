import { count, desc, eq } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { apiKeys } from "../../db/schema/index.ts";
import type { KeyRow } from "./view.ts";

export async function listKeys(
  ctx: Context,
  page: { page: number; pageSize: number },
): Promise<{ rows: KeyRow[]; totalCount: number }> {
  const own = eq(apiKeys.orgId, ctx.organizationId);
  const [rows, [total]] = await ctx.db.read((q) => [
    q
      .select()
      .from(apiKeys)
      .where(own)
      .orderBy(desc(apiKeys.createdAt), desc(apiKeys.id))
      .limit(page.pageSize)
      .offset((page.page - 1) * page.pageSize),
    q.select({ count: count() }).from(apiKeys).where(own),
  ]);
  return { rows, totalCount: total?.count ?? 0 };
}
