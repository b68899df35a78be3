import * as z from "zod";
import type { calls } from "../../db/schema/index.ts";

export type CallRow = typeof calls.$inferSelect;

export const Call = z
  .object({
    id: z.string(),
    type: z.enum(["web", "phone"]),
    status: z.int().min(0).max(7).meta({
      description:
        "0 initiated, 1 ringing, 2 in progress, 3 completed, 4 failed, 5 no answer, 6 busy, 7 canceled",
    }),
    assistantId: z.string(),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: "Call", description: "A call as lists show it" });

export const CallDetails = z
  .object({
    ...Call.shape,
    durationSeconds: z.int(),
    endedAt: z.iso.datetime().nullable(),
    endReason: z.string().nullable(),
    accessPoint: z.enum(["api", "widget", "phone", "workflow", "schedule"]),
    direction: z.enum(["inbound", "outbound"]),
  })
  .meta({ id: "CallDetails", description: "A call" });

export const TranscriptLine = z
  .object({
    role: z.enum(["assistant", "user"]),
    content: z.string(),
    interrupted: z.literal(true).optional(),
  })
  .meta({ id: "TranscriptLine", description: "What one side said, as far as the other heard it" });

export function viewOf(row: CallRow): z.infer<typeof Call> {
  return {
    id: row.id,
    type: row.type,
    status: row.status,
    assistantId: row.assistantId,
    createdAt: row.createdAt.toISOString(),
  };
}

export function detailsOf(row: CallRow): z.infer<typeof CallDetails> {
  return {
    ...viewOf(row),
    durationSeconds: row.durationSeconds,
    endedAt: row.endedAt?.toISOString() ?? null,
    endReason: row.endReason,
    accessPoint: row.accessPoint,
    direction: row.direction,
  };
}
