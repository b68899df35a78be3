import type { RouterRoute } from "hono/types";
import { findTargetHandler } from "hono/utils/handler";
import * as z from "zod";
import type { FailureCode } from "../errors.ts";
import { ErrorBody } from "./envelope.ts";
import { contract, type Input, type Operation } from "./operation.ts";
import { statusOf, wireCode } from "./refusal.ts";

export type Endpoint = {
  method: string;
  /** Hono's template: `/v1/calls/:id`. */
  path: string;
  operation: Operation;
  inputs: Input[];
};

/** Refusals that any endpoint may answer, besides its own. */
const COMMON: readonly FailureCode[] = [
  "validation_failed",
  "missing_api_key",
  "invalid_api_key",
  "key_revoked",
  "key_expired",
  "ip_not_allowed",
  "missing_scope",
  "organization_not_found",
  "rate_limited",
  "internal_error",
  "unavailable",
];

/** Only with the header `Idempotency-Key`, whose request is read before anything is done. */
const OF_POST: readonly FailureCode[] = [
  "payload_too_large",
  "idempotency_in_flight",
  "idempotency_outcome_lost",
  "idempotency_mismatch",
];

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "The same key with the same request takes effect once within 24 hours; sent again it gets the first answer, without secrets",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

const HEADERS = {
  "X-Request-Id": "Names this request; the caller's own when it sent 1 to 128 URL-safe characters",
  RateLimit: "How many requests are left in the window of the key and of the organization",
  "RateLimit-Policy": "Both windows: `q` requests in `w` seconds",
  "X-RateLimit-Limit": "The size of the tighter window",
  "X-RateLimit-Remaining": "How many requests are left in the tighter window",
  "X-RateLimit-Reset": "Seconds until the tighter window has one more slot",
  "Retry-After": "Seconds to wait before trying again",
  "Idempotent-Replayed": "`true` when the answer is that of an earlier request with the same key",
};

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

type Info = { title: string; version: string; description: string };

/** OpenAPI 3.1, read from the routes themselves: what is documented is what is enforced. */
export function openApi(routes: readonly RouterRoute[], info: Info) {
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
    paths,
    components: {
      schemas: namedSchemas(),
      headers: Object.fromEntries(
        Object.entries(HEADERS).map(([name, description]) => [
          name,
          { description, schema: { type: "string" } },
        ]),
      ),
      securitySchemes: { apiKey: { type: "apiKey", in: "header", name: "X-API-Key" } },
    },
  };
}

function describe(endpoint: Endpoint) {
  const { method, path, operation, inputs } = endpoint;
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
  const body = inputs.find((input) => input.target === "json");
  return {
    operationId: `${method.toLowerCase()}${path.replace(/\W+/g, "-")}`,
    summary: operation.summary,
    description: `${operation.description ?? operation.summary}. Scope: \`${operation.scope}\`.`,
    tags: [path.split("/")[2] ?? "service"],
    security: [{ apiKey: [operation.scope] }],
    parameters: [
      ...names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
      ...inputs.filter((input) => input.target === "query").flatMap(queryParameters),
      ...(method === "POST" ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(body && {
      requestBody: {
        required: !body.schema.safeParse({}).success,
        content: { "application/json": { schema: jsonSchema(body.schema, "input") } },
      },
    }),
    responses: responses(endpoint),
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

/** Every failure an endpoint may answer with; what is not among them breaks its contract. */
export function failuresOf({ method, operation, inputs }: Endpoint): FailureCode[] {
  const ofBody: FailureCode[] = inputs.some(({ target }) => target === "json")
    ? ["payload_too_large"]
    : [];
  const ofPost = method === "POST" ? OF_POST : [];
  return [...new Set([...COMMON, ...ofBody, ...ofPost, ...(operation.errors ?? [])])];
}

function responses(endpoint: Endpoint) {
  const good = Object.entries(endpoint.operation.responses).map(([status, schema]) => [
    status,
    response(
      status,
      schema.description ?? endpoint.operation.summary,
      schema,
      endpoint.operation.produces,
      endpoint.method === "POST",
    ),
  ]);
  const codes = new Map<number, string[]>();
  for (const code of failuresOf(endpoint)) {
    codes.set(statusOf[code], [...(codes.get(statusOf[code]) ?? []), `\`${wireCode(code)}\``]);
  }
  const refused = [...codes].map(([status, list]) => [
    status,
    response(String(status), list.join(", "), ErrorBody),
  ]);
  return Object.fromEntries([...good, ...refused]);
}

function response(
  status: string,
  description: string,
  schema: z.ZodType,
  mediaType = "application/json",
  isReplayable = false,
) {
  const isWait = status === "429" || status === "503" || status === "409";
  const names = Object.keys(HEADERS).filter((name) => {
    if (name === "X-Request-Id") return true;
    if (name === "Idempotent-Replayed") return isReplayable;
    return name === "Retry-After" ? isWait : status !== "401";
  });
  return {
    description,
    headers: Object.fromEntries(
      names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    ),
    content: { [mediaType]: { schema: jsonSchema(schema, "output") } },
  };
}

/** A schema with `.meta({ id })` becomes a `$ref`; any other is written in place. */
function jsonSchema(schema: z.ZodType, io: "input" | "output") {
  const id = schema.meta()?.id;
  if (id && io === "output") {
    return { $ref: `#/components/schemas/${id}` } as z.core.JSONSchema.BaseSchema;
  }
  const { $schema, $defs, ...rest } = z.toJSONSchema(schema, { ...plain, io });
  return JSON.parse(
    JSON.stringify(rest).replaceAll("#/$defs/", "#/components/schemas/"),
  ) as z.core.JSONSchema.BaseSchema;
}

function namedSchemas() {
  const { schemas } = z.toJSONSchema(z.globalRegistry, {
    ...plain,
    io: "output",
    uri: (id) => `#/components/schemas/${id}`,
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema, $id, ...schema }]) => [id, schema]),
  );
}

/** Without what only repeats the type: a format's pattern, and the bounds of every integer. */
const plain = {
  unrepresentable: "any",
  override({ jsonSchema: written }: { jsonSchema: z.core.JSONSchema.BaseSchema }) {
    if (written.format) delete written.pattern;
    if (written.minimum === Number.MIN_SAFE_INTEGER) delete written.minimum;
    if (written.maximum === Number.MAX_SAFE_INTEGER) delete written.maximum;
  },
} as const;
