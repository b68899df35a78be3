import * as z from "zod";
import type { apiKeys } from "../../db/schema/index.ts";
import { allScopes } from "./scopes.ts";

export type KeyRow = typeof apiKeys.$inferSelect;

const scopes = z.array(z.enum(allScopes));
const status = z.enum(["active", "revoked", "expired"]);

export const Key = z
  .object({
    id: z.string(),
    name: z.string(),
    publicKey: z.string(),
    scopes,
    status,
    expiresAt: z.iso.datetime().nullable(),
  })
  .meta({ id: "ApiKey", description: "An API key as lists show it: without its secret" });

export const KeyWithSecret = z
  .object({
    ...Key.shape,
    key: z.string().nullable().meta({ description: "The secret; shown this once" }),
    webhookSecret: z.string().nullable().meta({ description: "Signs webhooks; shown this once" }),
    callbackUrl: z.string().nullable(),
    allowedIps: z.array(z.string()).nullable(),
    rateLimitPerMinute: z.int().nullable(),
    rateLimitPerHour: z.int().nullable(),
  })
  .meta({ id: "ApiKeyWithSecret", description: "An API key with its secrets, shown this once" });

export function statusAt(row: Pick<KeyRow, "status" | "expiresAt">, now: number) {
  if (row.status === "active" && row.expiresAt && row.expiresAt.getTime() <= now) return "expired";
  return row.status;
}

export function viewOf(row: KeyRow, now: number): z.infer<typeof Key> {
  return {
    id: row.id,
    name: row.name,
    publicKey: row.publicKey,
    scopes: row.scopes as z.infer<typeof scopes>,
    status: statusAt(row, now),
    expiresAt: row.expiresAt?.toISOString() ?? null,
  };
}

export function viewWithSecret(
  row: KeyRow,
  secrets: { key: string; webhookSecret: string },
  now: number,
): z.infer<typeof KeyWithSecret> {
  return {
    ...viewOf(row, now),
    ...secrets,
    callbackUrl: row.callbackUrl,
    allowedIps: row.allowedIps,
    rateLimitPerMinute: row.rateLimitPerMinute,
    rateLimitPerHour: row.rateLimitPerHour,
  };
}
