import { Hono } from "hono";
import { failure } from "../errors.ts";
import { log } from "../log.ts";
import { handleTask, TaskMessage } from "../outbox/handle.ts";
import { sweep } from "../outbox/sweep.ts";
import { Refusal } from "./refusal.ts";
import type { Http } from "./types.ts";

/**
 * What the queue calls. Everything is refused that the queue has not signed for exactly this URL.
 * Done is 200, also when there was nothing to do; a failure of ours is 503, and the queue tries again.
 */
export const internal = new Hono<Http>()
  .use(async (c, next) => {
    const { wiring } = c.var;
    const body = await c.req.text();
    const genuine = await wiring.receiver.verify({
      url: `${wiring.options.publicUrl}${new URL(c.req.url).pathname}`,
      signature: c.req.header("upstash-signature") ?? "",
      body,
    });
    if (!genuine) throw new Refusal(failure("invalid_api_key", "Not signed by the queue"));
    await next();
  })
  .post("/sweep", async (c) => {
    const { wiring } = c.var;
    const published = await sweep(wiring.system, wiring.queue, Date.now());
    if (published > 0) log("warn", "outbox_republished", { published });
    return c.json({ status: true });
  })
  .post("/:task", async (c) => {
    const { wiring } = c.var;
    const message = TaskMessage.safeParse(JSON.parse(await c.req.text()));
    if (!message.success) throw new Refusal(failure("validation_failed", "Not a task message"));
    await handleTask(
      {
        organizationId: message.data.org,
        now: Date.now(),
        db: wiring.tenant(message.data.org),
        queue: wiring.queue,
        catalogue: wiring.catalogue,
        gates: wiring.gate,
        vault: wiring.vault,
        options: wiring.options,
      },
      message.data,
    );
    return c.json({ status: true });
  });
