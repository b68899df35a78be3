import { Hono } from "hono";
import * as z from "zod";
import { Ok, ok } from "../../http/envelope.ts";
import { operation, valid } from "../../http/operation.ts";
import { Meta, metaOf, Paging, pageOf } from "../../http/page.ts";
import { unwrap } from "../../http/refusal.ts";
import type { Http } from "../../http/types.ts";
import { CreateEndpoint, createEndpoint, deleteEndpoint, listEndpoints } from "./endpoint.ts";
import { findAttempt, HistoryFilters, listHistory } from "./history.ts";
import { resend } from "./resend.ts";
import { testEndpoint } from "./test-endpoint.ts";
import {
  Attempt,
  AttemptDetails,
  detailsOf,
  Endpoint,
  EndpointWithSecret,
  endpointView,
  QueuedDelivery,
  viewOf,
} from "./view.ts";

/** The page is inside `data` here, and the same numbers stand in `meta` as everywhere. */
const HistoryPage = z.object({ items: z.array(Attempt), ...Meta.shape });

const history = new Hono<Http>()
  .get(
    "/",
    operation({
      summary: "List webhook deliveries, attempt by attempt",
      scope: "webhooks:read",
      responses: { 200: Ok(HistoryPage).extend({ meta: Meta }) },
    }),
    valid("query", Paging.extend(HistoryFilters.shape)),
    async (c) => {
      const query = c.req.valid("query");
      const page = pageOf(query, 20);
      const { rows, totalCount } = await listHistory(c.var.context, query, page);
      const meta = metaOf(page, totalCount);
      const items = rows.map(({ attempt, event }) => viewOf(attempt, event));
      return c.json(ok("Webhook history", { items, ...meta }, { meta }));
    },
  )
  .get(
    "/:id",
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
  )
  .post(
    "/:id/resend",
    operation({
      summary: "Send the event of an attempt once more",
      description: "To the same URL, as a new delivery with ten attempts of its own",
      scope: "keys:write",
      responses: { 202: Ok(QueuedDelivery) },
      errors: ["webhook_history_not_found"],
    }),
    async (c) => {
      const queued = unwrap(await resend(c.var.context, c.req.param("id")));
      return c.json(ok("The event is on its way", queued), 202);
    },
  );

export const webhooks = new Hono<Http>()
  .route("/history", history)
  .post(
    "/",
    operation({
      summary: "Register an endpoint for events",
      description:
        "It gets the events of all calls that keys place, beside their callbacks or without them",
      scope: "keys:write",
      responses: { 201: Ok(EndpointWithSecret) },
      errors: ["limit_reached"],
    }),
    valid("json", CreateEndpoint),
    async (c) => {
      const { row, webhookSecret } = unwrap(
        await createEndpoint(c.var.context, c.req.valid("json")),
      );
      return c.json(ok("Webhook endpoint created", { ...endpointView(row), webhookSecret }), 201);
    },
  )
  .get(
    "/",
    operation({
      summary: "List the registered endpoints",
      scope: "webhooks:read",
      responses: { 200: Ok(z.array(Endpoint)) },
    }),
    async (c) => {
      const rows = await listEndpoints(c.var.context);
      return c.json(ok("Webhook endpoints", rows.map(endpointView)));
    },
  )
  .delete(
    "/:id",
    operation({
      summary: "Delete an endpoint",
      description: "What is on its way to it is not attempted again",
      scope: "keys:write",
      responses: { 200: Ok(Endpoint) },
      errors: ["webhook_endpoint_not_found"],
    }),
    async (c) => {
      const row = unwrap(await deleteEndpoint(c.var.context, c.req.param("id")));
      return c.json(ok("Webhook endpoint deleted", endpointView(row)));
    },
  )
  .post(
    "/:id/test",
    operation({
      summary: "Send a test event to an endpoint",
      description: "An event of type `webhook.test`, signed and logged like any other",
      scope: "keys:write",
      responses: { 202: Ok(QueuedDelivery) },
      errors: ["webhook_endpoint_not_found"],
    }),
    async (c) => {
      const queued = unwrap(await testEndpoint(c.var.context, c.req.param("id")));
      return c.json(ok("The test event is on its way", queued), 202);
    },
  );
