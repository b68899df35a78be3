import { createMiddleware } from "hono/factory";
import { routePath } from "hono/route";
import { newId } from "../ids.ts";
import { log } from "../log.ts";
import type { Http } from "./types.ts";

const URL_SAFE = /^[A-Za-z0-9._~-]{1,128}$/;

/** The caller's own id for the request when it is one, else ours; on every answer and log line. */
export const requestId = createMiddleware<Http>(async (c, next) => {
  const sent = c.req.header("x-request-id");
  c.set("requestId", sent && URL_SAFE.test(sent) ? sent : newId("req", Date.now()));
  const began = Date.now();
  await next();
  // An upgrade's answer has immutable headers, and nobody reads them.
  if (c.res.status !== 101) c.res.headers.set("X-Request-Id", c.var.requestId);
  log("info", "request", {
    id: c.var.requestId,
    organization: c.var.context?.organizationId,
    method: c.req.method,
    route: routePath(c, -1),
    status: c.res.status,
    ms: Date.now() - began,
  });
});
