import { Hono } from "hono";
import { answerFailure } from "./http/answer-failure.ts";
import { authenticate } from "./http/authenticate.ts";
import { gateway } from "./http/gateway.ts";
import { internal } from "./http/internal.ts";
import { methodNotAllowed } from "./http/not-found.ts";
import { requestId } from "./http/request-id.ts";
import type { Http } from "./http/types.ts";
import { agents } from "./resources/agents/routes.ts";
import { calls } from "./resources/calls/routes.ts";
import { keys } from "./resources/keys/routes.ts";
import { webhooks } from "./resources/webhooks/routes.ts";
import { pages } from "./web/pages.ts";
import type { Wiring } from "./wiring.ts";

/** The API on one screen: what every request passes, then one line for each resource. */
export function createApp(wiringOf: (env: Env) => Wiring) {
  const app = new Hono<Http>()
    .use(requestId)
    .use(async (c, next) => {
      c.set("wiring", wiringOf(c.env));
      await next();
    })
    .use("/v1/*", authenticate)
    .route("/v1/auth", keys)
    .route("/v1/agents", agents)
    .route("/v1/calls", calls)
    .route("/v1/webhooks", webhooks)
    .route("/new-web-call", gateway)
    .route("/internal/q", internal)
    .route("/", pages);
  app.onError((error, c) => answerFailure(error, c));
  app.notFound((c) => methodNotAllowed(app.routes, c));
  return app;
}

export type App = ReturnType<typeof createApp>;
