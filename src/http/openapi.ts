import type { RouterRoute } from "hono/types";
import { findTargetHandler } from "hono/utils/handler";
import * as z from "zod";
import type { FailureCode } from "../errors.ts";
import { ErrorBody } from "./envelope.ts";
import { contract, type Input, type Operation } from "./operation.ts";
import { statusOf } from "./refusal.ts";

export type Endpoint = {
  method: string;
  /** Hono's template: `/v1/calls/:id`. */
  path: string;
  operation: Operation;
  inputs: Input[];
};

/** Refusals that any endpoint may answer, besides its own. */
const COMMON: readonly FailureCode[] = [
  "missing_api_key",
  "missing_scope",
  "rate_limited",
  "internal_error",
  "unavailable",
];

/** The contracts that `operation` and `valid` left on the routes. */
export function endpointsOf(routes: readonly RouterRoute[]): Endpoint[] {
  const found = new Map<string, { method: string; path: string; notes: (Operation | Input)[] }>();
  for (const { method, path, handler } of routes) {
    const note = (findTargetHandler(handler) as { [contract]?: Operation | Input })[contract];
    if (!note) continue;
    const key = `${method} ${path}`;
    const entry = found.get(key) ?? { method, path, notes: [] };
    entry.notes.push(note);
    found.set(key, entry);
  }
  return [...found.values()].flatMap(({ method, path, notes }) => {
    const operation = notes.find((note): note is Operation => "summary" in note);
    const inputs = notes.filter((note): note is Input => "target" in note);
    return operation ? [{ method, path, operation, inputs }] : [];
  });
}

/** OpenAPI 3.1, read from the routes themselves: what is documented is what is enforced. */
export function openApi(routes: readonly RouterRoute[], info: { title: string; version: string }) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const endpoint of endpointsOf(routes)) {
    const template = endpoint.path.replace(/:(\w+)/g, "{$1}");
    paths[template] ??= {};
    paths[template][endpoint.method.toLowerCase()] = describe(endpoint);
  }
  return {
    openapi: "3.1.0",
    info,
    servers: [{ url: "/" }],
    security: [{ apiKey: [] }],
    paths,
    components: {
      schemas: namedSchemas(),
      securitySchemes: { apiKey: { type: "apiKey", in: "header", name: "X-API-Key" } },
    },
  };
}

function describe({ method, path, operation, inputs }: Endpoint) {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
  const body = inputs.find((input) => input.target === "json");
  return {
    operationId: `${method.toLowerCase()}_${path.replace(/\W+/g, "_").replace(/^_|_$/g, "")}`,
    summary: operation.summary,
    description: `${operation.description ?? operation.summary}. Scope: \`${operation.scope}\`.`,
    tags: [path.split("/")[2] ?? "service"],
    parameters: [
      ...names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
      ...inputs.filter((input) => input.target === "query").flatMap(queryParameters),
    ],
    ...(body && {
      requestBody: {
        required: true,
        content: { "application/json": { schema: jsonSchema(body.schema, "input") } },
      },
    }),
    responses: responses(operation, inputs.length > 0),
  };
}

function queryParameters({ schema }: Input) {
  const { properties = {}, required = [] } = jsonSchema(schema, "input");
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema: property,
  }));
}

function responses(operation: Operation, hasInput: boolean) {
  const good = Object.entries(operation.responses).map(([status, schema]) => [
    status,
    {
      description: schema.description ?? "Done",
      content: { "application/json": { schema: jsonSchema(schema, "output") } },
    },
  ]);
  const codes = new Map<number, string[]>();
  const extra: FailureCode[] = hasInput ? ["validation_failed"] : [];
  for (const code of [...COMMON, ...extra, ...(operation.errors ?? [])]) {
    codes.set(statusOf[code], [...(codes.get(statusOf[code]) ?? []), code]);
  }
  const refused = [...codes].map(([status, list]) => [
    String(status),
    {
      description: list.map((code) => `\`${code}\``).join(", "),
      content: { "application/json": { schema: jsonSchema(ErrorBody, "output") } },
    },
  ]);
  return Object.fromEntries([...good, ...refused]);
}

/** A schema with `.meta({ id })` becomes a `$ref`; any other is written in place. */
function jsonSchema(schema: z.ZodType, io: "input" | "output") {
  const id = schema.meta()?.id;
  if (id && io === "output") {
    return { $ref: `#/components/schemas/${id}` } as z.core.JSONSchema.BaseSchema;
  }
  const { $schema, $defs, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return JSON.parse(
    JSON.stringify(rest).replaceAll("#/$defs/", "#/components/schemas/"),
  ) as z.core.JSONSchema.BaseSchema;
}

function namedSchemas() {
  const { schemas } = z.toJSONSchema(z.globalRegistry, {
    io: "output",
    uri: (id) => `#/components/schemas/${id}`,
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema, $id, ...schema }]) => [id, schema]),
  );
}
