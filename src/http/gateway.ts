import { Hono } from "hono";
import { failure } from "../errors.ts";
import { Refusal } from "./refusal.ts";
import type { Http } from "./types.ts";

const CALL_ID = /^call_[0-9A-HJKMNP-TV-Z]{34}$/;

const refusals = {
  401: failure("key_revoked", "The API key that placed this call has been revoked"),
  404: failure("call_not_found", "There is no such call, or it is another agent's"),
  409: failure("call_ended", "This call has ended"),
} as const;

/**
 * Where a web call's socket arrives. The call's id is the capability: it alone finds the session,
 * and the session answers from its own storage.
 */
export const gateway = new Hono<Http>().get("/connection", async (c) => {
  if (c.req.header("upgrade")?.toLowerCase() !== "websocket") {
    throw new Refusal(failure("validation_failed", "Connect with a WebSocket"));
  }
  // Some clients append a second "?": what follows it belongs to no id.
  const callId = c.req.query("call_id")?.split("?")[0] ?? "";
  if (!CALL_ID.test(callId)) throw new Refusal(refusals[404]);
  const answer = await c.var.wiring.session(callId).connect(c.req.raw);
  if (answer.status === 101) return answer;
  throw new Refusal(refusals[answer.status as keyof typeof refusals] ?? refusals[404]);
});
