import { sql } from "drizzle-orm";
import { foreignKey, index, integer, jsonb, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { agents } from "./agents.ts";
import { instant, orgId, ownRowsOnly } from "./shared.ts";

export type TranscriptEntry = {
  role: "assistant" | "user";
  content: string;
  interrupted?: true;
};

export const calls = pgTable(
  "calls",
  {
    orgId: orgId(),
    id: text("id").notNull(),
    type: text("type", { enum: ["web", "phone"] }).notNull(),
    /** The numbers of the wire: see `resources/calls/status.ts`. */
    status: integer("status").notNull(),
    assistantId: text("assistant_id").notNull(),
    /** The key that placed the call; its callback gets the events. */
    apiKeyId: text("api_key_id"),
    accessPoint: text("access_point", {
      enum: ["api", "widget", "phone", "workflow", "schedule"],
    }).notNull(),
    direction: text("direction", { enum: ["inbound", "outbound"] }).notNull(),
    endReason: text("end_reason"),
    durationSeconds: integer("duration_seconds").notNull(),
    createdAt: instant("created_at").notNull(),
    startedAt: instant("started_at"),
    endedAt: instant("ended_at"),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.id] }),
    foreignKey({
      name: "calls_agent",
      columns: [table.orgId, table.assistantId],
      foreignColumns: [agents.orgId, agents.id],
    }),
    index("calls_newest").on(
      table.orgId,
      table.createdAt.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    index("calls_open").on(table.orgId, table.type).where(sql`status < 3`),
    ownRowsOnly(),
  ],
);

/** Apart from the call: lists read calls by the hundred and transcripts never. */
export const transcripts = pgTable(
  "transcripts",
  {
    orgId: orgId(),
    callId: text("call_id").notNull(),
    entries: jsonb("entries").$type<TranscriptEntry[]>().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.callId] }),
    foreignKey({
      name: "transcripts_call",
      columns: [table.orgId, table.callId],
      foreignColumns: [calls.orgId, calls.id],
    }),
    ownRowsOnly(),
  ],
);
