import { sql } from "drizzle-orm";
import {
  check,
  date,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { instant, orgId, ownRowsOnly } from "./shared.ts";

/** Something that happened, once. `body` is the very text that is signed and sent. */
export const events = pgTable(
  "events",
  {
    orgId: orgId(),
    id: text("id").notNull(),
    type: text("type").notNull(),
    callId: text("call_id"),
    jobId: text("job_id"),
    /** Text, not jsonb: jsonb reorders keys, and the signature covers bytes. Empty when it is over. */
    body: text("body").notNull(),
    createdAt: instant("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.id] }),
    index("events_kept").on(table.createdAt).where(sql`body <> ''`),
    uniqueIndex("events_once_per_call").on(table.orgId, table.callId, table.type),
    uniqueIndex("events_one_end_per_call")
      .on(table.orgId, table.callId)
      .where(sql`type in ('call.completed', 'call.failed')`),
    ownRowsOnly(),
  ],
);

/** A destination that the customer registered; it gets the events it names, or all. */
export const endpoints = pgTable(
  "webhook_endpoints",
  {
    orgId: orgId(),
    id: text("id").notNull(),
    url: text("url").notNull(),
    /** Null: every type. */
    events: text("events").array(),
    description: text("description"),
    /** Sealed by the vault. */
    webhookSecret: text("webhook_secret").notNull(),
    /** The first failure since the last success. */
    failingSince: instant("failing_since"),
    disabledAt: instant("disabled_at"),
    disabledReason: text("disabled_reason", { enum: ["gone", "failing"] }),
    createdAt: instant("created_at").notNull(),
    /** Kept for its deliveries, which name it. */
    deletedAt: instant("deleted_at"),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.id] }),
    index("webhook_endpoints_present").on(table.orgId).where(sql`deleted_at is null`),
    ownRowsOnly(),
  ],
);

/** One event on its way to one destination. */
export const deliveries = pgTable(
  "deliveries",
  {
    orgId: orgId(),
    id: text("id").notNull(),
    eventId: text("event_id").notNull(),
    type: text("type", {
      enum: ["developer_callback", "workflow_result", "workflow_report", "endpoint"],
    }).notNull(),
    url: text("url").notNull(),
    /** Whose webhook secret signs: a key's or, of type `endpoint`, an endpoint's. */
    keyId: text("key_id"),
    endpointId: text("endpoint_id"),
    /** The delivery that was asked for again. */
    resendOf: text("resend_of"),
    state: text("state", { enum: ["pending", "delivered", "dead"] }).notNull(),
    /** How many have begun. */
    attempts: integer("attempts").notNull(),
    nextAttemptAt: instant("next_attempt_at"),
    createdAt: instant("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.id] }),
    foreignKey({
      name: "deliveries_event",
      columns: [table.orgId, table.eventId],
      foreignColumns: [events.orgId, events.id],
    }),
    foreignKey({
      name: "deliveries_endpoint",
      columns: [table.orgId, table.endpointId],
      foreignColumns: [endpoints.orgId, endpoints.id],
    }),
    check("deliveries_one_signer", sql`num_nonnulls(key_id, endpoint_id) = 1`),
    uniqueIndex("deliveries_once_per_callback")
      .on(table.orgId, table.eventId, table.type, table.url)
      .where(sql`endpoint_id is null and resend_of is null`),
    ownRowsOnly(),
  ],
);

/** One try of a delivery: the webhook history. Inserted before the request leaves. */
export const attempts = pgTable(
  "webhook_attempts",
  {
    orgId: orgId(),
    id: text("id").notNull(),
    deliveryId: text("delivery_id").notNull(),
    eventId: text("event_id").notNull(),
    /** The event's own, for the history's filter. */
    callId: text("call_id"),
    attempt: integer("attempt").notNull(),
    type: text("type").notNull(),
    url: text("url").notNull(),
    outcome: text("outcome", { enum: ["pending", "received", "failed"] }).notNull(),
    /** HTTP status; 0 when nothing answered. */
    responseCode: integer("response_code").notNull(),
    responseBody: text("response_body").notNull(),
    /** Milliseconds. */
    requestDuration: integer("request_duration").notNull(),
    error: text("error"),
    nextAttemptAt: instant("next_attempt_at"),
    createdAt: instant("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.id] }),
    foreignKey({
      name: "webhook_attempts_delivery",
      columns: [table.orgId, table.deliveryId],
      foreignColumns: [deliveries.orgId, deliveries.id],
    }),
    uniqueIndex("webhook_attempts_once").on(table.orgId, table.deliveryId, table.attempt),
    index("webhook_attempts_newest").on(
      table.orgId,
      table.createdAt.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    index("webhook_attempts_by_outcome").on(
      table.orgId,
      table.outcome,
      table.createdAt.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    index("webhook_attempts_by_type").on(
      table.orgId,
      table.type,
      table.createdAt.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    index("webhook_attempts_by_call")
      .on(table.orgId, table.callId, table.createdAt.desc().nullsFirst())
      .where(sql`call_id is not null`),
    index("webhook_attempts_kept").on(table.createdAt).where(sql`response_body <> ''`),
    index("webhook_attempts_pending").on(table.createdAt).where(sql`outcome = 'pending'`),
    ownRowsOnly(),
  ],
);

/**
 * How many attempts ended on each day, kept by a trigger: counting a million rows takes longer than
 * a page may. Several rows for each count, so that deliveries do not wait for each other.
 */
export const attemptCounts = pgTable(
  "webhook_attempt_counts",
  {
    orgId: orgId(),
    /** In UTC. */
    day: date("day").notNull(),
    type: text("type").notNull(),
    outcome: text("outcome").notNull(),
    shard: integer("shard").notNull(),
    count: integer("count").notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.orgId, table.day, table.type, table.outcome, table.shard],
    }),
    ownRowsOnly(),
  ],
);
