import { and, eq, sql } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { apiKeys, keyAudit } from "../../db/schema/index.ts";
import { type Failure, failure, isFailure, Unavailable } from "../../errors.ts";
import { newId } from "../../ids.ts";
import type { GateKey } from "./gate-types.ts";
import type { Scope } from "./scopes.ts";
import type { KeyRow } from "./view.ts";

type Change = {
  set: Partial<typeof apiKeys.$inferInsert>;
  action: typeof keyAudit.$inferSelect.action;
  details: Record<string, unknown>;
};

/** Two changes of one key at once are rare, and the loser only has to look again. */
const TRIES = 3;

/**
 * Read under the lock of the key's row: changes that wait for each other stand in the trail in the
 * order of their commits, not in that of their requests.
 */
export const AUDIT_TIME = sql<Date>`clock_timestamp()`;

export function gateKeyOf(row: KeyRow): GateKey {
  return {
    id: row.id,
    hash: row.secretHash,
    status: row.status,
    scopes: row.scopes as Scope[],
    expiresAt: row.expiresAt?.getTime() ?? null,
    allowedIps: row.allowedIps,
    version: row.version,
  };
}

/** One key of this organization, or the failure that says there is none. */
export async function findKey(ctx: Context, id: string): Promise<KeyRow | Failure> {
  const [rows] = await ctx.db.read((q) => [
    q
      .select()
      .from(apiKeys)
      .where(and(eq(apiKeys.orgId, ctx.organizationId), eq(apiKeys.id, id))),
  ]);
  return rows[0] ?? failure("key_not_found", "There is no such API key");
}

/**
 * Changes a key under a mark in the gate: marked, committed with its audit row over exactly the
 * version the mark names, then told to the gate. When the last step fails the caller hears 503 and
 * the mark stays: from then on the gate asks Postgres until it knows what became of the change.
 */
export async function changeKey(
  ctx: Context,
  id: string,
  change: (key: KeyRow) => Change | Failure,
): Promise<KeyRow | Failure> {
  for (let tries = 0; tries < TRIES; tries++) {
    const before = await findKey(ctx, id);
    if (isFailure(before)) return before;
    const wanted = change(before);
    if (isFailure(wanted)) return wanted;
    const mark = await ctx.gate.beginChange(id);
    const after = mark.version === before.version && (await commit(ctx, before, wanted));
    // Nothing was committed under the mark, so it may go; what was read the gate may not know yet.
    await ctx.gate.finishChange(mark.token, gateKeyOf(after || before));
    if (after) return after;
  }
  throw new Unavailable("the key");
}

/** Update and audit row in one statement: the second can exist only where the first took effect. */
async function commit(ctx: Context, before: KeyRow, change: Change): Promise<KeyRow | undefined> {
  const own = and(eq(apiKeys.orgId, ctx.organizationId), eq(apiKeys.id, before.id));
  const [audited, [after]] = await ctx.db.write((q) => {
    const changed = q.$with("changed").as(
      q
        .update(apiKeys)
        .set({ ...change.set, version: before.version + 1 })
        .where(and(own, eq(apiKeys.version, before.version)))
        .returning({ orgId: apiKeys.orgId, keyId: apiKeys.id }),
    );
    return [
      q
        .with(changed)
        .insert(keyAudit)
        .select(
          q
            .select({
              orgId: changed.orgId,
              id: sql<string>`${newId("aud", ctx.now)}::text`.as("id"),
              keyId: changed.keyId,
              action: sql<typeof change.action>`${change.action}::text`.as("action"),
              actorKeyId: sql<string | null>`${ctx.keyId}::text`.as("actor_key_id"),
              details: sql<Record<string, unknown>>`${JSON.stringify(change.details)}::jsonb`.as(
                "details",
              ),
              at: AUDIT_TIME.as("at"),
            })
            .from(changed),
        )
        .returning({ id: keyAudit.id }),
      q.select().from(apiKeys).where(own),
    ];
  });
  return audited.length > 0 ? after : undefined;
}
