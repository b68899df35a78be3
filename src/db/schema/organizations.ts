import { pgTable, text } from "drizzle-orm/pg-core";
import { instant, ownRowsOnly } from "./shared.ts";

export const organizations = pgTable(
  "organizations",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    /** Ten base62 characters inside every secret of the organization: they name its gate. */
    routingTag: text("routing_tag").notNull().unique(),
    createdAt: instant("created_at").notNull(),
    closedAt: instant("closed_at"),
  },
  () => [ownRowsOnly("id")],
);
