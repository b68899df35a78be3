import { and, eq, inArray, or } from "drizzle-orm";
import { apiKeys, organizations } from "../../db/schema/index.ts";
import type { System } from "../../db/system.ts";
import type { Tenant } from "../../db/tenant.ts";
import { Unavailable } from "../../errors.ts";
import { gateKeyOf } from "./change.ts";
import type { GateRecords } from "./gate.ts";

/** The gate's questions to Postgres. Only the first one knows no organization, just its tag. */
export function gateRecords(doors: {
  system: System;
  tenant(organizationId: string): Tenant;
}): GateRecords {
  return {
    async fill(routingTag) {
      const ask = () =>
        doors.system.run((q) => [
          q.select().from(organizations).where(eq(organizations.routingTag, routingTag)),
          q
            .select({ key: apiKeys })
            .from(apiKeys)
            .innerJoin(organizations, eq(organizations.id, apiKeys.orgId))
            .where(eq(organizations.routingTag, routingTag)),
        ]);
      // A database that sleeps may miss the first question.
      const [found, keys] = await ask().catch((error) => {
        if (error instanceof Unavailable) return ask();
        throw error;
      });
      const [organization] = found;
      if (!organization) return null;
      return {
        organizationId: organization.id,
        closed: organization.closedAt !== null,
        keys: keys.map(({ key }) => gateKeyOf(key)),
      };
    },
    async read(organizationId, ids, hash) {
      const [rows] = await doors.tenant(organizationId).read((q) => [
        q
          .select()
          .from(apiKeys)
          .where(
            and(
              eq(apiKeys.orgId, organizationId),
              or(inArray(apiKeys.id, ids), eq(apiKeys.secretHash, hash)),
            ),
          ),
      ]);
      return rows.map(gateKeyOf);
    },
  };
}
