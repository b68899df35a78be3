import { sql } from "drizzle-orm";
import {
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
    /** Text, not jsonb: jsonb reorders keys, and the signature covers bytes. */
    body: text("body").notNull(),
    createdAt: instant("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.id] }),
    uniqueIndex("events_once_per_call").on(table.orgId, table.callId, table.type),
    uniqueIndex("events_one_end_per_call")
      .on(table.orgId, table.callId)
      .where(sql`type in ('call.completed', 'call.failed')`),
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
    /** Whose webhook secret signs. */
    keyId: text("key_id").notNull(),
    state: text("state", { enum: ["pending", "delivered", "dead"] }).notNull(),
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
    uniqueIndex("deliveries_once_per_destination").on(
      table.orgId,
      table.eventId,
      table.type,
      table.url,
    ),
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
    ownRowsOnly(),
  ],
);
