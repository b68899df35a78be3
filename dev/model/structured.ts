import * as z from "zod";
import type { Message } from "./replies.ts";

type Keyword =
  | "$ref"
  | "const"
  | "enum"
  | "anyOf"
  | "oneOf"
  | "allOf"
  | "type"
  | "format"
  | "properties"
  | "items"
  | "minItems"
  | "minimum"
  | "minLength"
  | "maxLength";

/** It comes from outside: every keyword may be missing or be anything. */
export type JsonSchema = { [keyword in Keyword]?: unknown };

/** A value that satisfies `schema`; well-known properties are derived from the conversation. */
export function answerTo(schema: JsonSchema, messages: readonly Message[]): unknown {
  return fill(schema, { root: schema, known: analyse(messages), depth: 0 });
}

type Known = Record<string, unknown>;
type Context = { root: JsonSchema; known: Known; depth: number };

function fill(schema: JsonSchema, context: Context): unknown {
  const inner = { ...context, depth: context.depth + 1 };
  const ref = text(schema.$ref);
  // A schema that contains itself ends here with what JSON has for nothing.
  if (context.depth > 20) return null;
  if (ref) return fill(resolve(ref, context.root), inner);
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const choice = [schema.anyOf, schema.oneOf, schema.allOf].find(Array.isArray);
  if (choice) return fill(asSchema(choice[0]), inner);
  const minimum = Number(schema.minimum ?? 0);
  switch (typeOf(schema)) {
    case "object":
      return fillObject(schema, inner);
    case "array":
      return Array.from({ length: Number(schema.minItems ?? 0) }, () =>
        fill(asSchema(schema.items), inner),
      );
    case "string":
      return fillString(schema);
    case "integer":
      return Math.ceil(minimum);
    case "number":
      return minimum;
    case "boolean":
      return false;
    default:
      return null;
  }
}

function fillObject(schema: JsonSchema, context: Context): Record<string, unknown> {
  const properties = Object.entries(asSchema(schema.properties));
  return Object.fromEntries(
    properties.map(([name, property]) => {
      const shape = asSchema(property);
      const derived = context.known[name];
      return [name, fits(shape, derived) ? derived : fill(shape, context)];
    }),
  );
}

const formats: Record<string, string> = {
  "date-time": "2026-01-01T00:00:00Z",
  date: "2026-01-01",
  time: "00:00:00Z",
  email: "someone@example.com",
  uri: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

function fillString(schema: JsonSchema): string {
  const known = formats[text(schema.format)];
  if (known) return known;
  const longest = Number(schema.maxLength ?? 1000);
  return "text".padEnd(Number(schema.minLength ?? 0), ".").slice(0, longest);
}

function fits(schema: JsonSchema, value: unknown): boolean {
  return (
    value !== undefined &&
    z.fromJSONSchema({ ...schema } as z.core.JSONSchema.BaseSchema).safeParse(value).success
  );
}

function typeOf(schema: JsonSchema): string {
  const type = Array.isArray(schema.type)
    ? schema.type.find((each) => each !== "null")
    : schema.type;
  return text(type) || ("properties" in schema ? "object" : "string");
}

function resolve(ref: string, root: JsonSchema): JsonSchema {
  const steps = ref.replace(/^#\/?/, "").split("/").filter(Boolean);
  return steps.reduce((at, step) => asSchema(Reflect.get(at, step)), root);
}

function asSchema(value: unknown): JsonSchema {
  return typeof value === "object" && value !== null ? (value as JsonSchema) : {};
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

const praise = /\b(thanks|thank you|great|perfect|good|happy|love|excellent|wonderful|helpful)\b/gi;
const blame =
  /\b(bad|angry|terrible|wrong|broken|late|unhappy|refund|complain\w*|never|not working)\b/gi;

const topics: readonly (readonly [string, RegExp])[] = [
  ["billing", /\b(bill\w*|invoice\w*|charge\w*|pay\w*|price\w*)\b/i],
  ["refund", /\b(refund\w*|money back)\b/i],
  ["order", /\b(order\w*|purchase\w*)\b/i],
  ["delivery", /\b(deliver\w*|ship\w*|parcel|package)\b/i],
  ["appointment", /\b(appointment\w*|book\w*|schedul\w*|meeting\w*)\b/i],
  ["cancellation", /\b(cancel\w*)\b/i],
  ["complaint", /\b(complain\w*|angry|terrible)\b/i],
  ["support", /\b(help|support|problem|issue|broken|not working)\b/i],
];

/** The analysis of a call by counting words: what the service asks of a model after each call. */
function analyse(messages: readonly Message[]): Known {
  const said = callerWords(messages);
  const score = (said.match(praise)?.length ?? 0) - (said.match(blame)?.length ?? 0);
  const found = topics.filter(([, pattern]) => pattern.test(said)).map(([tag]) => tag);
  const tags = found.length > 0 ? found : ["conversation"];
  const first = said.trim().split("\n")[0]?.slice(0, 200) ?? "";
  return {
    summary: first
      ? `The caller spoke about ${tags.join(", ")}. They began with: "${first}"`
      : "The caller said nothing.",
    sentiment: score > 0 ? "positive" : score < 0 ? "negative" : "neutral",
    tags,
  };
}

const speaker = /^\W*(caller|user|customer|agent|assistant)\W*:\s*/i;

/** A transcript inside one message names its speakers; without names all of it counts. */
function callerWords(messages: readonly Message[]): string {
  const lines = messages
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => content.split("\n"));
  const named = lines.filter((line) => speaker.test(line));
  const callers = named.filter((line) => !/^\W*(agent|assistant)/i.test(line));
  return (named.length > 0 ? callers : lines).map((line) => line.replace(speaker, "")).join("\n");
}
