import { type Context, Hono } from "hono";
import { failure } from "../errors.ts";
import { Refusal } from "../http/refusal.ts";
import type { Http } from "../http/types.ts";
import { healthWarnings } from "./health.ts";

/**
 * Nothing from elsewhere and no script in the page itself. Inline style attributes and `data:`
 * images are what the reference is drawn with.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const SECURITY_HEADERS = {
  "Content-Security-Policy": CONTENT_SECURITY_POLICY,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};

/** What browsers load, and what tools read about the service. All of it is public. */
export const pages = new Hono<Http>()
  .get("/", (c) => staticFile(c))
  .get("/docs", (c) => staticFile(c))
  .get("/changelog", (c) => staticFile(c))
  .get("/assets/*", (c) => staticFile(c))
  .get("/openapi.json", async (c) => {
    const answer = await staticFile(c);
    answer.headers.set("Access-Control-Allow-Origin", "*");
    return answer;
  })
  .get("/healthz", async (c) => {
    const { system, settings } = c.var.wiring;
    const warnings = await healthWarnings(system, settings.SWEEP_CRON);
    const headers = { ...SECURITY_HEADERS, "Cache-Control": "no-store" };
    return c.json({ status: true, message: "The service is up", warnings }, 200, headers);
  });

/** The file of this path, which `npm run build` put together; anything but the file is a 404. */
async function staticFile(c: Context<Http>): Promise<Response> {
  const found = await c.env.ASSETS.fetch(c.req.raw);
  if (found.status !== 200 && found.status !== 304) {
    throw new Refusal(failure("not_found", "There is no such path"));
  }
  // What fetch returns has headers that cannot be changed.
  const answer = new Response(found.body, found);
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) answer.headers.set(name, value);
  return answer;
}
