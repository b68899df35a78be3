import { desc, eq } from "drizzle-orm";
import { keyAudit } from "../db/schema/index.ts";
import type { Tenant } from "../db/tenant.ts";

export type AuditEntry = {
  at: string;
  action: string;
  keyId: string;
  actorKeyId: string | null;
  details: Record<string, unknown>;
};

/** Every change of the organization's keys, newest first. */
export async function listKeyAudit(db: Tenant): Promise<AuditEntry[]> {
  const [rows] = await db.read((q) => [
    q
      .select()
      .from(keyAudit)
      .where(eq(keyAudit.orgId, db.organizationId))
      .orderBy(desc(keyAudit.at), desc(keyAudit.id))
      .limit(10_000),
  ]);
  return rows.map(({ at, action, keyId, actorKeyId, details }) => ({
    at: at.toISOString(),
    action,
    keyId,
    actorKeyId,
    details,
  }));
}
