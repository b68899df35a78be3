import { count, eq, sql } from "drizzle-orm";
import * as z from "zod";
import type { Context } from "../../context.ts";
import { assertBelowCeiling, isAtCeiling } from "../../db/ceiling.ts";
import { apiKeys, keyAudit } from "../../db/schema/index.ts";
import { type Failure, failure, invalid, isFailure } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { checkDestination } from "../webhooks/destination.ts";
import { newWebhookSecret } from "../webhooks/secret.ts";
import { canonicalRange } from "./address.ts";
import { AUDIT_TIME, gateKeyOf } from "./change.ts";
import { Scopes } from "./scopes.ts";
import { newPublicKey, newSecret } from "./secret.ts";
import type { KeyRow } from "./view.ts";

export const MAX_KEYS = 1_000;

/** Later ones have no ISO 8601 form that Postgres reads. */
const LAST_YEAR = 9_999;

const range = z.string().transform((text, issues) => {
  const canonical = canonicalRange(text);
  if (canonical) return canonical;
  issues.addIssue({ code: "custom", message: "must be an IPv4 or IPv6 address or a CIDR range" });
  return z.NEVER;
});

/** RFC 3339, and offsets without their colon, as many languages print them. */
const expiry = z
  .string()
  .transform((text) => text.toUpperCase().replace(/([+-]\d\d)(\d\d)$/, "$1:$2"))
  .pipe(z.iso.datetime({ offset: true }))
  .transform((text) => new Date(text))
  .refine((date) => date.getUTCFullYear() <= LAST_YEAR, `must be before the year ${LAST_YEAR + 1}`)
  .meta({ description: "An ISO 8601 date-time with an offset or Z" });

export const CreateKey = z.object({
  name: z.string().min(1).max(200).default("API key"),
  scopes: Scopes.optional().meta({ description: "Default: the scopes of the calling key" }),
  expiresAt: expiry.nullish(),
  rateLimitPerMinute: z.int().min(1).max(1_000).nullish(),
  rateLimitPerHour: z.int().min(1).max(10_000).nullish(),
  allowedIps: z.array(range).min(1).max(100).nullish(),
  callbackUrl: z.string().max(2_048).nullish().meta({ description: "An HTTPS URL" }),
});

export type CreatedKey = { row: KeyRow; secrets: { key: string; webhookSecret: string } };

export async function createKey(
  ctx: Context,
  input: z.output<typeof CreateKey>,
): Promise<CreatedKey | Failure> {
  const checked = checkInput(ctx, input);
  if (isFailure(checked)) return checked;
  const full = await refuseBeyondCeiling(ctx);
  if (full) return full;
  const { row, secrets } = await newKey(ctx, {
    ...checked,
    name: input.name,
    scopes: input.scopes ?? [...ctx.scopes],
  });
  const mark = await ctx.gate.beginChange(row.id);
  const created = await insert(ctx, row);
  if (isFailure(created)) return created;
  await ctx.gate.finishChange(mark.token, gateKeyOf(created));
  return { row: created, secrets };
}

const CEILING = "api_keys";

/** Refused here only by a race for the last place; the mark that is left then lapses by itself. */
async function insert(ctx: Context, row: typeof apiKeys.$inferInsert): Promise<KeyRow | Failure> {
  const { organizationId } = ctx;
  try {
    const [, , [created]] = await ctx.db.write((q) => [
      ...assertBelowCeiling(q, {
        organizationId,
        name: CEILING,
        counted: sql`select count(*) from ${apiKeys} where org_id = ${organizationId}`,
        most: MAX_KEYS,
      }),
      q.insert(apiKeys).values(row).returning(),
      q.insert(keyAudit).values({
        orgId: ctx.organizationId,
        id: newId("aud", ctx.now),
        keyId: row.id,
        action: "created",
        actorKeyId: ctx.keyId,
        details: { scopes: row.scopes },
        at: AUDIT_TIME,
      }),
    ]);
    if (!created) throw new Error("an insert returned no row");
    return created;
  } catch (error) {
    if (!isAtCeiling(error, CEILING)) throw error;
    return tooMany();
  }
}

type Facts = Pick<
  KeyRow,
  | "name"
  | "scopes"
  | "expiresAt"
  | "rateLimitPerMinute"
  | "rateLimitPerHour"
  | "allowedIps"
  | "callbackUrl"
>;

/** A new key's row with its secrets, not yet stored. The operator's first key is made of it too. */
export async function newKey(
  ctx: Pick<Context, "organizationId" | "routingTag" | "vault" | "now"> & {
    options: Pick<Context["options"], "keyCheckSecret">;
  },
  facts: Facts,
): Promise<{ row: typeof apiKeys.$inferInsert; secrets: CreatedKey["secrets"] }> {
  const id = newId("key", ctx.now);
  const check = ctx.options.keyCheckSecret;
  const [secret, publicKey] = await Promise.all([
    newSecret(ctx.routingTag, check),
    newPublicKey(ctx.routingTag, check),
  ]);
  const webhookSecret = newWebhookSecret();
  return {
    secrets: { key: secret.text, webhookSecret },
    row: {
      ...facts,
      orgId: ctx.organizationId,
      id,
      publicKey,
      secretHash: secret.hash,
      secretLast4: secret.last4,
      status: "active",
      webhookSecret: await ctx.vault.seal(ctx.organizationId, id, webhookSecret),
      version: 1,
      createdAt: new Date(ctx.now),
    },
  };
}

function checkInput(ctx: Context, input: z.output<typeof CreateKey>) {
  const expiresAt = input.expiresAt ?? null;
  if (expiresAt && expiresAt.getTime() <= ctx.now) {
    return invalid("expiresAt", "must be in the future");
  }
  const callbackUrl =
    typeof input.callbackUrl === "string"
      ? checkDestination("callbackUrl", input.callbackUrl, {
          devOrigins: ctx.options.webhookDevOrigins,
          ownOrigin: ctx.options.publicUrl,
        })
      : null;
  if (isFailure(callbackUrl)) return callbackUrl;
  return {
    expiresAt,
    callbackUrl,
    rateLimitPerMinute: input.rateLimitPerMinute ?? null,
    rateLimitPerHour: input.rateLimitPerHour ?? null,
    allowedIps: input.allowedIps ? [...new Set(input.allowedIps)] : null,
  };
}

async function refuseBeyondCeiling(ctx: Context): Promise<Failure | null> {
  const [[row]] = await ctx.db.read((q) => [
    q.select({ keys: count() }).from(apiKeys).where(eq(apiKeys.orgId, ctx.organizationId)),
  ]);
  if ((row?.keys ?? 0) < MAX_KEYS) return null;
  return tooMany();
}

function tooMany(): Failure {
  return failure("limit_reached", `An organization has at most ${MAX_KEYS} keys`);
}
