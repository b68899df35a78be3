import { sql } from "drizzle-orm";
import { pgPolicy, pgRole, text, timestamp } from "drizzle-orm/pg-core";

/** The role every tenant access runs as; made by the first migration, never able to log in. */
export const tenantRole = pgRole("app_tenant").existing();

/** A point in time, stored in UTC with the milliseconds that the wire shows. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3 });

export const orgId = () => text("org_id").notNull();

/** The second wall: a statement that forgets its organization sees and writes nothing. */
export function ownRowsOnly(column: "org_id" | "id" = "org_id") {
  const own = sql.raw(`${column} = nullif(current_setting('app.org_id', true), '')`);
  return pgPolicy("own_rows_only", { for: "all", to: tenantRole, using: own, withCheck: own });
}
