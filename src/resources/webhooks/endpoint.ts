import { and, desc, eq, isNull, sql } from "drizzle-orm";
import * as z from "zod";
import type { Context } from "../../context.ts";
import { assertBelowCeiling, isAtCeiling } from "../../db/ceiling.ts";
import { endpoints } from "../../db/schema/index.ts";
import { type Failure, failure, isFailure } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { checkDestination } from "./destination.ts";
import { eventTypes } from "./events.ts";
import { newWebhookSecret } from "./secret.ts";
import type { EndpointRow } from "./view.ts";

/** An endpoint that has answered nothing but failures for so long is disabled. */
export const FAILING_DAYS = 5;
export const MAX_ENDPOINTS = 100;
const CEILING = "webhook_endpoints";

export const CreateEndpoint = z.object({
  url: z.string().min(1).max(2_048).meta({ description: "An HTTPS URL" }),
  events: z
    .array(z.enum(eventTypes))
    .min(1)
    .nullish()
    .meta({ description: "The types it gets; all of them when absent" }),
  description: z.string().max(200).nullish(),
});

const present = (ctx: Context) =>
  and(eq(endpoints.orgId, ctx.organizationId), isNull(endpoints.deletedAt));

export async function createEndpoint(
  ctx: Context,
  input: z.output<typeof CreateEndpoint>,
): Promise<{ row: EndpointRow; webhookSecret: string } | Failure> {
  const url = checkDestination("url", input.url, {
    devOrigins: ctx.options.webhookDevOrigins,
    ownOrigin: ctx.options.publicUrl,
  });
  if (isFailure(url)) return url;
  const { organizationId } = ctx;
  const id = newId("wep", ctx.now);
  const webhookSecret = newWebhookSecret();
  const sealed = await ctx.vault.seal(organizationId, id, webhookSecret);
  try {
    const [, , [row]] = await ctx.db.write((q) => [
      ...assertBelowCeiling(q, {
        organizationId,
        name: CEILING,
        counted: sql`select count(*) from ${endpoints} where ${present(ctx)}`,
        most: MAX_ENDPOINTS,
      }),
      q
        .insert(endpoints)
        .values({
          orgId: organizationId,
          id,
          url,
          events: input.events ? [...new Set(input.events)] : null,
          description: input.description ?? null,
          webhookSecret: sealed,
          createdAt: new Date(ctx.now),
        })
        .returning(),
    ]);
    if (!row) throw new Error("an insert returned no row");
    return { row, webhookSecret };
  } catch (error) {
    if (!isAtCeiling(error, CEILING)) throw error;
    return failure("limit_reached", `An organization has at most ${MAX_ENDPOINTS} endpoints`);
  }
}

export async function listEndpoints(ctx: Context): Promise<EndpointRow[]> {
  const [rows] = await ctx.db.read((q) => [
    q
      .select()
      .from(endpoints)
      .where(present(ctx))
      .orderBy(desc(endpoints.createdAt), desc(endpoints.id)),
  ]);
  return rows;
}

/** What is under way to it is not attempted again. */
export async function deleteEndpoint(ctx: Context, id: string): Promise<EndpointRow | Failure> {
  const [[row]] = await ctx.db.write((q) => [
    q
      .update(endpoints)
      .set({ deletedAt: new Date(ctx.now) })
      .where(and(present(ctx), eq(endpoints.id, id)))
      .returning(),
  ]);
  return row ?? noEndpoint();
}

export function noEndpoint(): Failure {
  return failure("webhook_endpoint_not_found", "There is no such webhook endpoint");
}
