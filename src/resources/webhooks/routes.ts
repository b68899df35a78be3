import { Hono } from "hono";
import * as z from "zod";
import { Ok, ok } from "../../http/envelope.ts";
import { operation, valid } from "../../http/operation.ts";
import { Meta, metaOf, Paging, pageOf } from "../../http/page.ts";
import { unwrap } from "../../http/refusal.ts";
import type { Http } from "../../http/types.ts";
import { findAttempt, listHistory } from "./history.ts";
import { Attempt, AttemptDetails, detailsOf, viewOf } from "./view.ts";

/** The page is inside `data` here, and the same numbers stand in `meta` as everywhere. */
const HistoryPage = z.object({ items: z.array(Attempt), ...Meta.shape });

export const webhooks = new Hono<Http>()
  .get(
    "/history",
    operation({
      summary: "List webhook deliveries, attempt by attempt",
      scope: "webhooks:read",
      responses: { 200: Ok(HistoryPage).extend({ meta: Meta }) },
    }),
    valid("query", Paging),
    async (c) => {
      const page = pageOf(c.req.valid("query"), 20);
      const { rows, totalCount } = await listHistory(c.var.context, page);
      const meta = metaOf(page, totalCount);
      const items = rows.map(({ attempt, event }) => viewOf(attempt, event));
      return c.json(ok("Webhook history", { items, ...meta }, { meta }));
    },
  )
  .get(
    "/history/:id",
    operation({
      summary: "Read one attempt with what was sent and answered",
      scope: "webhooks:read",
      responses: { 200: Ok(AttemptDetails) },
      errors: ["webhook_history_not_found"],
    }),
    async (c) => {
      const { attempt, event } = unwrap(await findAttempt(c.var.context, c.req.param("id")));
      return c.json(ok("Webhook attempt", detailsOf(attempt, event)));
    },
  );
