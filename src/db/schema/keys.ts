import { foreignKey, index, integer, jsonb, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { organizations } from "./organizations.ts";
import { instant, orgId, ownRowsOnly } from "./shared.ts";

export const apiKeys = pgTable(
  "api_keys",
  {
    orgId: orgId().references(() => organizations.id),
    id: text("id").notNull(),
    name: text("name").notNull(),
    publicKey: text("public_key").notNull().unique(),
    /** SHA-256 of the secret, hex. The secret itself is nowhere. */
    secretHash: text("secret_hash").notNull().unique(),
    secretLast4: text("secret_last4").notNull(),
    scopes: text("scopes").array().notNull(),
    status: text("status", { enum: ["active", "revoked"] }).notNull(),
    expiresAt: instant("expires_at"),
    rateLimitPerMinute: integer("rate_limit_per_minute"),
    rateLimitPerHour: integer("rate_limit_per_hour"),
    /** Canonical addresses and CIDR ranges; null lets every address in. */
    allowedIps: text("allowed_ips").array(),
    callbackUrl: text("callback_url"),
    /** Sealed by the vault, as is the one before it, which still signs until its time is over. */
    webhookSecret: text("webhook_secret").notNull(),
    previousWebhookSecret: text("previous_webhook_secret"),
    previousWebhookSecretUntil: instant("previous_webhook_secret_until"),
    /** Grows by one with each change: the gate's marks compare it. */
    version: integer("version").notNull(),
    createdAt: instant("created_at").notNull(),
    revokedAt: instant("revoked_at"),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.id] }),
    index("api_keys_newest").on(
      table.orgId,
      table.createdAt.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    ownRowsOnly(),
  ],
);

/** What was done to a key, by which key (null: the operator), in the transaction that did it. */
export const keyAudit = pgTable(
  "key_audit",
  {
    orgId: orgId(),
    id: text("id").notNull(),
    keyId: text("key_id").notNull(),
    action: text("action", {
      enum: ["created", "scopes_replaced", "rotated", "webhook_secret_rotated", "revoked"],
    }).notNull(),
    actorKeyId: text("actor_key_id"),
    details: jsonb("details").$type<Record<string, unknown>>().notNull(),
    at: instant("at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.id] }),
    foreignKey({
      name: "key_audit_key",
      columns: [table.orgId, table.keyId],
      foreignColumns: [apiKeys.orgId, apiKeys.id],
    }),
    index("key_audit_newest").on(table.orgId, table.at.desc().nullsFirst()),
    ownRowsOnly(),
  ],
);
