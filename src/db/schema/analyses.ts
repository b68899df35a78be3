import { foreignKey, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { calls } from "./calls.ts";
import { instant, orgId, ownRowsOnly } from "./shared.ts";

/** What a call was about, made once after its end. */
export const analyses = pgTable(
  "call_analyses",
  {
    orgId: orgId(),
    callId: text("call_id").notNull(),
    summary: text("summary").notNull(),
    sentiment: text("sentiment", { enum: ["positive", "neutral", "negative"] }).notNull(),
    tags: text("tags").array().notNull(),
    createdAt: instant("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.callId] }),
    foreignKey({
      name: "call_analyses_call",
      columns: [table.orgId, table.callId],
      foreignColumns: [calls.orgId, calls.id],
    }),
    ownRowsOnly(),
  ],
);
