import { and, eq, sql } from "drizzle-orm";
import { idempotencyKeys } from "../db/schema/index.ts";
import type { statements } from "../db/statements.ts";
import type { Tenant } from "../db/tenant.ts";

/** Longer than any request runs; a Worker that died gives its claim up after it. */
const LEASE_SECONDS = 60;
const KEPT_HOURS = 24;

/** The constraint that a batch breaks when its claim is gone. */
export const CLAIM = "idempotency_claim";

export type Claim = {
  organizationId: string;
  /** Of API key, method, path and the caller's key. */
  id: string;
  /** Of the request. */
  fingerprint: string;
  /** Of this run alone. */
  token: string;
};

export type Stored =
  | { kind: "mine" }
  | { kind: "mismatch" }
  | { kind: "in_flight" }
  /** It took effect, and nobody knows any more what was answered. */
  | { kind: "lost" }
  | { kind: "answered"; status: number; body: string };

/** Takes the claim, or says what became of the request that has it. One transaction. */
export async function claim(db: Tenant, mine: Claim): Promise<Stored> {
  const { organizationId, id, fingerprint, token } = mine;
  const kept = sql`${idempotencyKeys.createdAt} > now() - make_interval(hours => ${KEPT_HOURS})`;
  const isOver = sql`${idempotencyKeys.leaseUntil} < now()`;
  const [, [row]] = await db.write((q) => [
    q
      .insert(idempotencyKeys)
      .values({
        orgId: organizationId,
        id,
        fingerprint,
        token,
        leaseUntil: sql`now() + make_interval(secs => ${LEASE_SECONDS})`,
        took: false,
        createdAt: sql`now()`,
      })
      .onConflictDoUpdate({
        target: [idempotencyKeys.orgId, idempotencyKeys.id],
        set: {
          fingerprint,
          token,
          leaseUntil: sql`excluded.lease_until`,
          took: false,
          status: null,
          body: null,
          createdAt: sql`excluded.created_at`,
        },
        // What died before its effect may be done again; so may what is as old as this.
        setWhere: sql`not ${kept} or (${isOver} and not ${idempotencyKeys.took})`,
      }),
    q
      .select({ row: idempotencyKeys, isOver: sql<boolean>`${isOver}` })
      .from(idempotencyKeys)
      .where(and(eq(idempotencyKeys.orgId, organizationId), eq(idempotencyKeys.id, id))),
  ]);
  if (!row) throw new Error("a claim was written and is not there");
  return storedOf(row.row, row.isOver, mine);
}

function storedOf(row: typeof idempotencyKeys.$inferSelect, isOver: boolean, mine: Claim): Stored {
  if (row.token === mine.token) return { kind: "mine" };
  if (row.fingerprint !== mine.fingerprint) return { kind: "mismatch" };
  if (row.status !== null) return { kind: "answered", status: row.status, body: row.body ?? "" };
  return { kind: isOver && row.took ? "lost" : "in_flight" };
}

/**
 * The first statement of each of the request's batches: marks that it takes effect, or refuses the
 * whole batch when the claim is somebody else's by now.
 */
export function refuseUnlessClaimed(q: typeof statements, mine: Claim) {
  return q.execute(sql`
    with marked as (update ${idempotencyKeys} set took_effect = true
      where ${ownedBy(mine)} returning 1)
    select refuse_at_ceiling((select 1 - count(*) from marked), 1, ${CLAIM})`);
}

/**
 * Keeps a good answer, and forgets the claim of a refusal, which means that nothing was done. Of a
 * 5xx the effect's mark says which it is: not done, or done with an outcome that is lost.
 */
export async function finish(
  db: Tenant,
  mine: Claim,
  { status, body }: { status: number; body: string },
): Promise<void> {
  const isGood = status < 300;
  const isRefusal = status < 500;
  await db.write((q) => [
    isGood
      ? q.update(idempotencyKeys).set({ status, body }).where(ownedBy(mine))
      : q
          .delete(idempotencyKeys)
          .where(and(ownedBy(mine), isRefusal ? undefined : eq(idempotencyKeys.took, false))),
    q.update(idempotencyKeys).set({ took: true, leaseUntil: sql`now()` }).where(ownedBy(mine)),
  ]);
}

const ownedBy = (mine: Claim) =>
  and(
    eq(idempotencyKeys.orgId, mine.organizationId),
    eq(idempotencyKeys.id, mine.id),
    eq(idempotencyKeys.token, mine.token),
  );
