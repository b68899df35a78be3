import { boolean, index, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { organizations } from "./organizations.ts";
import { instant, orgId, ownRowsOnly } from "./shared.ts";

export const agents = pgTable(
  "agents",
  {
    orgId: orgId().references(() => organizations.id),
    id: text("id").notNull(),
    kind: text("kind", { enum: ["conversation", "announcer"] }).notNull(),
    name: text("name").notNull(),
    companyName: text("company_name").notNull(),
    industry: text("industry").notNull(),
    /** As the caller wrote it: a language name or a BCP-47 tag. */
    language: text("language").notNull(),
    taskType: text("task_type").notNull(),
    firstMessage: text("first_message").notNull(),
    systemPrompt: text("system_prompt").notNull(),
    /** Aliases, as sent; what stands behind them is the catalogue's business. */
    provider: text("provider").notNull(),
    model: text("model"),
    voiceProvider: text("voice_provider").notNull(),
    voiceModel: text("voice_model").notNull(),
    voiceId: text("voice_id").notNull(),
    hipaa: boolean("hipaa").notNull(),
    endCallPhrases: text("end_call_phrases").array().notNull(),
    createdAt: instant("created_at").notNull(),
    updatedAt: instant("updated_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.id] }),
    index("agents_newest").on(
      table.orgId,
      table.createdAt.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    ownRowsOnly(),
  ],
);
