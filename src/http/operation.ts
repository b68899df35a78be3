import { zValidator } from "@hono/zod-validator";
import type { Context, MiddlewareHandler, ValidationTargets } from "hono";
import { createMiddleware } from "hono/factory";
import * as z from "zod";
import { type FailureCode, failure, type Issue, invalid } from "../errors.ts";
import type { Scope } from "../resources/keys/scopes.ts";
import "./messages.ts";
import { readText } from "./body.ts";
import { onceOnly } from "./idempotency.ts";
import { Refusal } from "./refusal.ts";
import { guardDepth, guardText, guardValue } from "./text-guard.ts";
import type { Http } from "./types.ts";

export const contract = Symbol("contract");

export type Operation = {
  summary: string;
  description?: string;
  scope: Scope;
  responses: Record<number, z.ZodType>;
  /** The media type of the good answers; JSON unless said. */
  produces?: string;
  /** Beside those that every endpoint can answer. */
  errors?: readonly FailureCode[];
};
export type Input = { target: keyof ValidationTargets; schema: z.ZodType };

/**
 * Documents an endpoint and enforces its scope, so the two cannot drift apart. A POST with an
 * `Idempotency-Key` goes on only once.
 */
export function operation(op: Operation) {
  const guard = createMiddleware<Http>(async (c, next) => {
    if (!c.var.context.scopes.includes(op.scope)) {
      throw new Refusal(failure("missing_scope", `This key lacks the scope ${op.scope}`));
    }
    guardUrl(c);
    return onceOnly(c, next);
  });
  return Object.assign(guard, { [contract]: op });
}

/** `zValidator` behind the text guard, answering with our error, its schema kept for the document. */
export function valid<Target extends "json" | "query", Schema extends z.ZodType>(
  target: Target,
  schema: Schema,
) {
  const accepted = (target === "query" ? z.preprocess(lastOfEach, schema) : schema) as Schema;
  const check = zValidator(target, accepted, (result) => {
    if (!result.success) throw new Refusal(validationFailure(result.error.issues));
  });
  const guarded: MiddlewareHandler = async (c, next) => {
    if (target === "json") await guardBody(c);
    return check(c, next);
  };
  return Object.assign(guarded as typeof check, {
    [contract]: { target, schema } satisfies Input,
  });
}

/** Of a parameter that is repeated the last one counts, as of a repeated key in JSON. */
function lastOfEach(query: unknown): unknown {
  return Object.fromEntries(
    Object.entries(query as Record<string, string | string[]>).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.at(-1) : value,
    ]),
  );
}

function validationFailure(issues: readonly z.core.$ZodIssue[]) {
  const named: Issue[] = issues.map((issue) => ({
    path: issue.path.map(String).join(".") || "body",
    message: issue.message,
  }));
  const [first] = named;
  const message = first ? `${first.path}: ${first.message}` : "The request is invalid";
  return failure("validation_failed", message, named);
}

/** A path that is no valid percent-encoding is only text that names nothing; a query has values. */
function guardUrl(c: Context): void {
  if (!isDecodable(new URL(c.req.url).search)) {
    throw new Refusal(invalid("query", "must be percent-encoded UTF-8"));
  }
  for (const [name, value] of Object.entries(c.req.param())) {
    const failed = guardText(name, String(value));
    if (failed) throw new Refusal(failed);
  }
  for (const [name, values] of Object.entries(c.req.queries())) {
    for (const text of [name, ...values]) {
      const failed = guardText("query", text);
      if (failed) throw new Refusal(failed);
    }
  }
}

/** No body at all stands for an empty object, since every field may be optional. */
function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

async function guardBody(c: Context): Promise<void> {
  const sent = await readText(c);
  const type = c.req.header("content-type") ?? "";
  if (sent && !/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) {
    throw new Refusal(
      failure("validation_failed", "Send a JSON body with Content-Type: application/json"),
    );
  }
  const text = sent || "{}";
  const deep = guardDepth(text);
  if (deep) throw new Refusal(deep);
  const failed = guardValue("body", parse(text));
  if (failed) throw new Refusal(failed);
  // Hono keeps promises here, whatever the type says.
  c.req.bodyCache.text = Promise.resolve(text) as unknown as string;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(failure("validation_failed", "The body is not valid JSON"));
  }
}
