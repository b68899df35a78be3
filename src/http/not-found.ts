import type { Context } from "hono";
import type { RouterRoute } from "hono/types";
import { failure } from "../errors.ts";
import { answerFailure } from "./answer-failure.ts";
import { Refusal } from "./refusal.ts";
import type { Http } from "./types.ts";

/** 404, or 405 with `Allow` when the path is there and only the method is wrong. */
export function methodNotAllowed(routes: readonly RouterRoute[], c: Context<Http>): Response {
  const allowed = new Set(
    routes
      .filter(({ method, path }) => method !== "ALL" && matches(path, c.req.path))
      .map(({ method }) => method),
  );
  if (allowed.size === 0) {
    return answerFailure(new Refusal(failure("not_found", "There is no such path")), c);
  }
  if (allowed.has("GET")) allowed.add("HEAD");
  return answerFailure(
    new Refusal(failure("method_not_allowed", `Use ${[...allowed].join(" or ")}`), {
      headers: { Allow: [...allowed].join(", ") },
    }),
    c,
  );
}

function matches(template: string, path: string): boolean {
  const pattern = template
    .replace(/[.+?^${}()|[\]\\]/g, "\\$&")
    .replace(/:\w+/g, "[^/]+")
    .replaceAll("*", ".*");
  return new RegExp(`^${pattern}$`).test(path);
}
