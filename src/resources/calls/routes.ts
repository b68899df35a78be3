import { type Context, Hono } from "hono";
import * as z from "zod";
import { Unavailable } from "../../errors.ts";
import { Ok, ok } from "../../http/envelope.ts";
import { operation, valid } from "../../http/operation.ts";
import { Meta, metaOf, Paging, pageOf } from "../../http/page.ts";
import { Refusal, unwrap } from "../../http/refusal.ts";
import type { Http } from "../../http/types.ts";
import { Analysis } from "./analysis/analysis.ts";
import { readAnalysisOf } from "./analysis/read.ts";
import { endCall } from "./end.ts";
import { findCall } from "./find.ts";
import { CallFilters, listCalls } from "./list.ts";
import { watchCall } from "./live-events.ts";
import { StartPhoneCall, startPhoneCall } from "./start-phone.ts";
import { StartWebCall, startWebCall } from "./start-web.ts";
import { readTranscript } from "./transcript.ts";
import { Call, CallDetails, detailsOf, TranscriptLine, viewOf } from "./view.ts";

const GATEWAY_PATH = "/new-web-call/connection";

const StartedCall = z
  .object({
    status: z.literal(true),
    message: z.string(),
    callId: z.string(),
    gateway: z.object({
      transport: z.literal("websocket"),
      path: z.literal(GATEWAY_PATH),
      url: z.string().meta({ description: "Connect the call's audio here" }),
    }),
  })
  .meta({ id: "StartedCall", description: "The call waits to be joined at its gateway" });

export const calls = new Hono<Http>()
  .get(
    "/",
    operation({
      summary: "List calls",
      scope: "calls:read",
      responses: { 200: Ok(z.array(Call)).extend({ meta: Meta }) },
    }),
    valid("query", Paging.extend(CallFilters.shape)),
    async (c) => {
      const query = c.req.valid("query");
      const page = pageOf(query, 100);
      const { rows, totalCount } = await listCalls(c.var.context, query, page);
      return c.json(ok("Calls", rows.map(viewOf), { meta: metaOf(page, totalCount) }));
    },
  )
  .post(
    "/initiate",
    operation({
      summary: "Start a web call",
      scope: "calls:write",
      responses: { 201: StartedCall },
      errors: ["agent_not_found", "concurrency_limit"],
    }),
    valid("json", StartWebCall),
    async (c) => {
      const input = c.req.valid("json");
      const origin = gatewayOrigin(c);
      const call = unwrap(await startWebCall(c.var.context, input));
      const query = new URLSearchParams({ assistant_id: call.assistantId, call_id: call.id });
      if (input.dialect) query.set("dialect", input.dialect);
      return c.json(
        {
          status: true as const,
          message: "Call initiated",
          callId: call.id,
          gateway: {
            transport: "websocket" as const,
            path: GATEWAY_PATH,
            url: `${origin}${GATEWAY_PATH}?${query}`,
          },
        },
        201,
      );
    },
  )
  .post(
    "/phone/initiate",
    operation({
      summary: "Start a phone call from a purchased number",
      scope: "calls:write",
      responses: { 201: Ok(Call).extend({ callId: z.string() }) },
      errors: ["phone_purchase_not_found"],
    }),
    valid("json", StartPhoneCall),
    (c) => {
      throw new Refusal(startPhoneCall(c.req.valid("json")));
    },
  )
  .get(
    "/:id",
    operation({
      summary: "Read a call",
      scope: "calls:read",
      responses: { 200: Ok(CallDetails) },
      errors: ["call_not_found"],
    }),
    async (c) => {
      const row = unwrap(await findCall(c.var.context, c.req.param("id")));
      return c.json(ok("Call", detailsOf(row)));
    },
  )
  .get(
    "/:id/transcripts",
    operation({
      summary: "Read what was said and heard",
      scope: "calls:read",
      responses: { 200: Ok(z.array(TranscriptLine)) },
      errors: ["call_not_found"],
    }),
    async (c) => {
      const entries = unwrap(await readTranscript(c.var.context, c.req.param("id")));
      return c.json(ok("Transcript", entries));
    },
  )
  .get(
    "/:id/analysis",
    operation({
      summary: "Read what a call was about",
      description: "Made after the call; until then 404 `analysis_not_ready` with `Retry-After`",
      scope: "calls:read",
      responses: { 200: Ok(Analysis) },
      errors: ["call_not_found", "analysis_not_ready"],
    }),
    async (c) => {
      const analysis = unwrap(await readAnalysisOf(c.var.context, c.req.param("id")));
      return c.json(ok("Analysis", analysis));
    },
  )
  .get(
    "/:id/events",
    operation({
      summary: "Watch a call as it happens",
      description: "Server-sent events: what was said so far, then each line, state and the end",
      scope: "calls:read",
      produces: "text/event-stream",
      responses: { 200: z.string() },
      errors: ["call_not_found"],
    }),
    async (c) => {
      const events = unwrap(await watchCall(c.var.context, c.req.param("id")));
      return c.body(events, 200, {
        "Content-Type": "text/event-stream",
        "Cache-Control": "no-store",
      });
    },
  )
  .post(
    "/:id/end",
    operation({
      summary: "End a call",
      scope: "calls:write",
      responses: { 200: Ok(CallDetails) },
      errors: ["call_not_found"],
    }),
    async (c) => {
      const row = unwrap(await endCall(c.var.context, c.req.param("id")));
      return c.json(ok("Call ended", detailsOf(row)));
    },
  );

/** A Host header is the caller's word; only a loopback one may shape a URL. */
function gatewayOrigin(c: Context<Http>): string {
  const configured = c.var.wiring.settings.PUBLIC_WS_URL;
  if (configured) return configured;
  const url = new URL(c.req.url);
  if (/^(127\.0\.0\.1|localhost|\[::1\])$/.test(url.hostname)) return `ws://${url.host}`;
  throw new Unavailable("the gateway's address (PUBLIC_WS_URL)");
}
