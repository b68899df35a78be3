import { boolean, index, integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { instant, orgId, ownRowsOnly } from "./shared.ts";

/** One `Idempotency-Key` of one API key for one path, and what became of its request. */
export const idempotencyKeys = pgTable(
  "idempotency_keys",
  {
    orgId: orgId(),
    /** SHA-256 of API key, path and the caller's key: paths and keys may be longer than an index row. */
    id: text("id").notNull(),
    /** SHA-256 of query and body: the same key with another request is a mistake. */
    fingerprint: text("fingerprint").notNull(),
    /** Who runs it now; the effect's own batch refuses any other. */
    token: text("token").notNull(),
    leaseUntil: instant("lease_until").notNull(),
    /** Set in the transaction of the effect. */
    took: boolean("took_effect").notNull(),
    /** The answer, without its secrets; null until it is known. */
    status: integer("status"),
    body: text("body"),
    createdAt: instant("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.id] }),
    index("idempotency_keys_oldest").on(table.createdAt),
    ownRowsOnly(),
  ],
);
