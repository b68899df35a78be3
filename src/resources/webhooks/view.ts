import * as z from "zod";
import type { attempts, endpoints, events } from "../../db/schema/index.ts";

export type AttemptRow = typeof attempts.$inferSelect;
export type EventRow = Pick<typeof events.$inferSelect, "type" | "body" | "callId" | "jobId">;

const Outcome = z.enum(["Webhook Received", "Webhook Failed"]);

export const Attempt = z
  .object({
    id: z.string(),
    request_method: z.literal("POST"),
    response_code: z.int().meta({ description: "0 when nothing answered" }),
    request_duration: z.int().meta({ description: "Milliseconds" }),
    type: z.string(),
    outcome: Outcome,
    event: z.string(),
    url: z.string(),
    attempt: z.int(),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: "WebhookAttempt", description: "One attempt to deliver an event" });

export const AttemptDetails = z
  .object({
    ...Attempt.shape,
    eventId: z.string(),
    callId: z.string().nullable(),
    jobId: z.string().nullable(),
    request_body: z.unknown(),
    request_body_raw: z.string().meta({
      description: "The very text that was signed; kept for 30 days, then empty",
    }),
    response_body: z.string(),
    error: z.string().nullable(),
    nextAttemptAt: z.iso.datetime().nullable(),
  })
  .meta({ id: "WebhookAttemptDetails", description: "An attempt with what was sent and answered" });

export function viewOf(row: AttemptRow, event: { type: string }): z.infer<typeof Attempt> {
  return {
    id: row.id,
    request_method: "POST",
    response_code: row.responseCode,
    request_duration: row.requestDuration,
    type: row.type,
    outcome: row.outcome === "received" ? "Webhook Received" : "Webhook Failed",
    event: event.type,
    url: row.url,
    attempt: row.attempt,
    createdAt: row.createdAt.toISOString(),
  };
}

export function detailsOf(row: AttemptRow, event: EventRow): z.infer<typeof AttemptDetails> {
  return {
    ...viewOf(row, event),
    eventId: row.eventId,
    callId: event.callId,
    jobId: event.jobId,
    request_body: event.body ? JSON.parse(event.body) : null,
    request_body_raw: event.body,
    response_body: row.responseBody,
    error: row.error,
    nextAttemptAt: row.nextAttemptAt?.toISOString() ?? null,
  };
}

export type EndpointRow = typeof endpoints.$inferSelect;

export const Endpoint = z
  .object({
    id: z.string(),
    url: z.string(),
    events: z
      .array(z.string())
      .nullable()
      .meta({ description: "The types it gets; null: all of them" }),
    description: z.string().nullable(),
    status: z.enum(["enabled", "disabled"]),
    disabledAt: z.iso.datetime().nullable(),
    disabledReason: z.enum(["gone", "failing"]).nullable().meta({
      description: "`gone`: it answered 410; `failing`: nothing but failures for five days",
    }),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: "WebhookEndpoint", description: "A registered destination of events" });

export const EndpointWithSecret = z
  .object({
    ...Endpoint.shape,
    webhookSecret: z.string().nullable().meta({ description: "Signs; shown this once" }),
  })
  .meta({ id: "WebhookEndpointWithSecret", description: "A new endpoint with its secret" });

export const QueuedDelivery = z
  .object({ deliveryId: z.string(), eventId: z.string() })
  .meta({ id: "QueuedDelivery", description: "A delivery on its way; see the history" });

export function endpointView(row: EndpointRow): z.infer<typeof Endpoint> {
  return {
    id: row.id,
    url: row.url,
    events: row.events,
    description: row.description,
    status: row.disabledAt ? "disabled" : "enabled",
    disabledAt: row.disabledAt?.toISOString() ?? null,
    disabledReason: row.disabledReason,
    createdAt: row.createdAt.toISOString(),
  };
}
