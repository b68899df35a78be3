import * as z from "zod";
import { agentInput } from "../../support/agent-input.ts";
import type { Tested } from "./endpoints.ts";
import type { Things } from "./things.ts";

/** Bodies that mean more than their schema says; all others are made of the schema itself. */
const meaningful: Record<string, (things: Partial<Things>, id: string) => object> = {
  "POST /v1/agents": () => agentInput,
  "PATCH /v1/agents/:id": (_, id) => ({ id }),
  "POST /v1/webhooks": () => ({ url: "https://example.com/hook" }),
  "POST /v1/calls/phone/initiate": () => ({
    phone_purchase_id: "num_unknown",
    phoneNumber: "+14155552671",
  }),
  "POST /v1/calls/initiate": ({ agent = "agt_unknown" }) => ({ assistantId: agent, type: "web" }),
};

/** The smallest body that passes validation, or undefined when the endpoint takes none. */
export function goodBody(
  endpoint: Tested,
  { things = {}, id = "" }: { things?: Partial<Things>; id?: string } = {},
): object | undefined {
  if (!endpoint.body) return undefined;
  const written = meaningful[endpoint.name];
  if (written) return written(things, id);
  const schema = z.toJSONSchema(endpoint.body, { io: "input", unrepresentable: "any" });
  return example(schema) as object;
}

type Schema = z.core.JSONSchema.BaseSchema;

function example(schema: Schema): unknown {
  if (schema.examples) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const [first] = schema.anyOf ?? schema.oneOf ?? [];
  if (first) return example(first as Schema);
  switch (schema.type) {
    case "object":
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, example(schema.properties?.[name] as Schema)]),
      );
    case "array":
      return Array.from({ length: schema.minItems ?? 0 }, () => example(schema.items as Schema));
    case "string":
      return exampleText(schema);
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return true;
    default:
      return null;
  }
}

function exampleText({ format, minLength = 1 }: Schema): string {
  if (format === "date-time") return "2099-01-01T00:00:00.000Z";
  if (format === "date") return "2099-01-01";
  if (format === "uri") return "https://example.com/";
  return "x".repeat(minLength);
}
