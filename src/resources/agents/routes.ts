import { Hono } from "hono";
import * as z from "zod";
import { Nested, nested } from "../../http/envelope.ts";
import { operation, valid } from "../../http/operation.ts";
import { Meta, metaOf, Paging, pageOrAll } from "../../http/page.ts";
import { unwrap } from "../../http/refusal.ts";
import type { Http } from "../../http/types.ts";
import { CreateAgent, createAgent, MAX_AGENTS } from "./create.ts";
import { findAgent } from "./find.ts";
import { listAgents } from "./list.ts";
import { PatchAgent, patchAgent } from "./patch.ts";
import { AgentDetails, AgentSummary, detailsOf, summaryOf } from "./view.ts";

const Voices = z
  .object({
    name: z.string(),
    provider: z.string(),
    models: z.array(z.string()),
    languages: z.array(z.string()),
    voices: z.array(z.object({ voice_id: z.string(), name: z.string(), gender: z.string() })),
  })
  .meta({ id: "VoiceProvider", description: "A voice provider's alias, models and voices" });

const Reasoning = z
  .object({ provider: z.string(), models: z.array(z.string()) })
  .meta({ id: "ReasoningProvider", description: "A reasoning provider's alias and models" });

/** Both envelopes at once: the flat one of the reference and the nested one of the reads. */
const Written = z
  .object({
    success: z.literal(true),
    status: z.literal(true),
    message: z.string(),
    data: z.object({
      status: z.literal(true),
      message: z.string(),
      id: z.string(),
      details: z.object({ id: z.string() }),
    }),
  })
  .meta({ id: "AgentWritten", description: "The agent was created or updated" });

function written(message: string, id: string): z.infer<typeof Written> {
  const data = { status: true as const, message, id, details: { id } };
  return { success: true, status: true, message, data };
}

export const agents = new Hono<Http>()
  .get(
    "/voices",
    operation({
      summary: "List voices, by provider alias",
      scope: "agents:read",
      responses: {
        200: Nested({ data: z.array(Voices), reasoning_providers: z.array(Reasoning) }),
      },
    }),
    (c) => {
      const data = c.var.context.catalogue.voiceProviders.map((entry) => ({
        name: entry.name,
        provider: entry.provider,
        models: [...entry.models],
        languages: [...entry.languages],
        voices: [...entry.voices],
      }));
      const reasoning_providers = c.var.context.catalogue.reasoningProviders.map((entry) => ({
        provider: entry.provider,
        models: [...entry.models],
      }));
      return c.json(nested("Voices", { data, reasoning_providers }));
    },
  )
  .get(
    "/",
    operation({
      summary: "List agents",
      scope: "agents:read",
      responses: { 200: Nested({ data: z.array(AgentSummary), meta: Meta }) },
      errors: ["organization_not_found"],
    }),
    valid("query", Paging),
    async (c) => {
      const page = pageOrAll(c.req.valid("query"), MAX_AGENTS);
      const { rows, totalCount } = await listAgents(c.var.context, page);
      return c.json(
        nested("Agents", { data: rows.map(summaryOf), meta: metaOf(page, totalCount) }),
      );
    },
  )
  .post(
    "/",
    operation({
      summary: "Create an agent",
      scope: "agents:write",
      responses: { 201: Written },
      errors: ["limit_reached"],
    }),
    valid("json", CreateAgent),
    async (c) => {
      const row = unwrap(await createAgent(c.var.context, c.req.valid("json")));
      return c.json(written("Agent created", row.id), 201);
    },
  )
  .get(
    "/:id",
    operation({
      summary: "Read an agent",
      scope: "agents:read",
      responses: { 200: Nested({ details: AgentDetails }) },
      errors: ["agent_not_found"],
    }),
    async (c) => {
      const { context } = c.var;
      const row = unwrap(await findAgent(context, c.req.param("id")));
      return c.json(nested("Agent", { details: detailsOf(row, context.catalogue) }));
    },
  )
  .patch(
    "/:id",
    operation({
      summary: "Update an agent",
      description: "Only the fields sent are changed",
      scope: "agents:write",
      responses: { 200: Written },
      errors: ["agent_not_found"],
    }),
    valid("json", PatchAgent),
    async (c) => {
      const input = c.req.valid("json");
      const row = unwrap(await patchAgent(c.var.context, c.req.param("id"), input));
      return c.json(written("Agent updated", row.id));
    },
  );
