import { Hono } from "hono";
import * as z from "zod";
import { Ok, ok } from "../../http/envelope.ts";
import { operation, valid } from "../../http/operation.ts";
import { Meta, metaOf, Paging, pageOrAll } from "../../http/page.ts";
import { unwrap } from "../../http/refusal.ts";
import type { Http } from "../../http/types.ts";
import { CreateKey, createKey, MAX_KEYS } from "./create.ts";
import { listKeys } from "./list.ts";
import { ReplaceScopes, replaceScopes } from "./replace-scopes.ts";
import { revokeKey } from "./revoke.ts";
import { rotateKey } from "./rotate.ts";
import { rotateWebhookSecret } from "./rotate-webhook-secret.ts";
import { allScopes, scopeDescriptions } from "./scopes.ts";
import { Key, KeyWithSecret, viewOf, viewWithSecret } from "./view.ts";

export const keys = new Hono<Http>()
  .post(
    "/keys",
    operation({
      summary: "Create an API key",
      scope: "keys:write",
      responses: { 201: Ok(KeyWithSecret) },
      errors: ["limit_reached"],
    }),
    valid("json", CreateKey),
    async (c) => {
      const { context } = c.var;
      const { row, secrets } = unwrap(await createKey(context, c.req.valid("json")));
      return c.json(ok("API key created", viewWithSecret(row, secrets, context.now)), 201);
    },
  )
  .get(
    "/keys",
    operation({
      summary: "List the organization's API keys",
      scope: "keys:read",
      responses: { 200: Ok(z.array(Key)).extend({ meta: Meta }) },
    }),
    valid("query", Paging),
    async (c) => {
      const { context } = c.var;
      const page = pageOrAll(c.req.valid("query"), MAX_KEYS);
      const { rows, totalCount } = await listKeys(context, page);
      const data = rows.map((row) => viewOf(row, context.now));
      return c.json(ok("API keys", data, { meta: metaOf(page, totalCount) }));
    },
  )
  .get(
    "/scopes",
    operation({
      summary: "List every scope",
      scope: "keys:read",
      responses: {
        200: Ok(z.array(z.enum(allScopes))).extend({
          meta: z.object({ descriptions: z.record(z.string(), z.string()) }),
        }),
      },
    }),
    (c) => c.json(ok("Scopes", allScopes, { meta: { descriptions: scopeDescriptions } })),
  )
  .patch(
    "/keys/:id/scopes",
    operation({
      summary: "Replace the scopes of a key",
      scope: "keys:write",
      responses: { 200: Ok(Key) },
      errors: ["key_not_found", "key_is_revoked"],
    }),
    valid("json", ReplaceScopes),
    async (c) => {
      const { context } = c.var;
      const input = c.req.valid("json");
      const row = unwrap(await replaceScopes(context, c.req.param("id"), input));
      return c.json(ok("Scopes replaced", viewOf(row, context.now)));
    },
  )
  .post(
    "/keys/:id/rotate",
    operation({
      summary: "Issue a new secret for a key",
      description: "The secret before stops working at once; id, name, scopes and limits stay",
      scope: "keys:write",
      responses: { 200: Ok(KeyWithSecret) },
      errors: ["key_not_found", "key_is_revoked"],
    }),
    async (c) => {
      const { context } = c.var;
      const { row, secrets } = unwrap(await rotateKey(context, c.req.param("id")));
      return c.json(ok("API key rotated", viewWithSecret(row, secrets, context.now)));
    },
  )
  .post(
    "/keys/:id/revoke",
    operation({
      summary: "Revoke a key for good",
      scope: "keys:write",
      responses: { 200: Ok(z.object({ id: z.string(), status: z.literal("revoked") })) },
      errors: ["key_not_found"],
    }),
    async (c) => {
      const row = unwrap(await revokeKey(c.var.context, c.req.param("id")));
      return c.json(ok("API key revoked", { id: row.id, status: "revoked" as const }));
    },
  )
  .post(
    "/keys/:id/webhook-secret/rotate",
    operation({
      summary: "Issue a new webhook secret for a key",
      description: "Deliveries are signed with the old and the new secret for 24 hours",
      scope: "keys:write",
      responses: { 200: Ok(z.object({ id: z.string(), webhookSecret: z.string().nullable() })) },
      errors: ["key_not_found", "key_is_revoked"],
    }),
    async (c) => {
      const rotated = unwrap(await rotateWebhookSecret(c.var.context, c.req.param("id")));
      return c.json(ok("Webhook secret rotated", rotated));
    },
  );
