import { and, eq, inArray } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { calls } from "../../db/schema/index.ts";
import { OPEN_STATUSES } from "./status.ts";

/** A revoked key ends what it opened: live calls are closed, unjoined ones refuse to be joined. */
export async function endCallsOfKey(ctx: Context, keyId: string): Promise<void> {
  const [open] = await ctx.db.read((q) => [
    q
      .select({ id: calls.id })
      .from(calls)
      .where(
        and(
          eq(calls.orgId, ctx.organizationId),
          eq(calls.apiKeyId, keyId),
          inArray(calls.status, [...OPEN_STATUSES]),
        ),
      ),
  ]);
  await Promise.all(open.map(({ id }) => ctx.sessions(id).end("key_revoked")));
}
