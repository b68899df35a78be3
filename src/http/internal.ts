import { type Context, Hono } from "hono";
import { failure } from "../errors.ts";
import { log } from "../log.ts";
import { handleTask, TaskMessage } from "../outbox/handle.ts";
import { sweep } from "../outbox/sweep.ts";
import { Refusal } from "./refusal.ts";
import type { Http } from "./types.ts";

/** A message is three ids. */
const MAX_BODY_BYTES = 4 * 1024;

/**
 * What the queue calls. Everything is refused that the queue has not signed for exactly this URL.
 * Done is 200, also when there was nothing to do; a failure of ours is 503, and the queue tries again.
 */
export const internal = new Hono<Http>()
  .use(async (c, next) => {
    const { wiring } = c.var;
    const signature = c.req.header("upstash-signature");
    const body = signature ? await readBounded(c) : null;
    const genuine =
      signature &&
      body !== null &&
      (await wiring.receiver.verify({
        url: `${wiring.options.publicUrl}${new URL(c.req.url).pathname}`,
        signature,
        body,
      }));
    if (!genuine) throw new Refusal(failure("invalid_api_key", "Not signed by the queue"));
    // Hono keeps promises here, whatever the type says.
    c.req.bodyCache.text = Promise.resolve(body) as unknown as string;
    await next();
  })
  .post("/sweep", async (c) => {
    const { wiring } = c.var;
    const { CALL_JOIN_SECONDS, CALL_MAX_SECONDS } = wiring.settings;
    const published = await sweep({
      system: wiring.system,
      queue: wiring.queue,
      session: wiring.session,
      now: Date.now(),
      longestCallSeconds: CALL_JOIN_SECONDS + CALL_MAX_SECONDS,
    });
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

/** Null when it is longer than anything the queue sends, or no UTF-8: nothing of it was signed. */
async function readBounded(c: Context): Promise<string | null> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  let size = 0;
  try {
    for await (const chunk of c.req.raw.body ?? []) {
      size += chunk.byteLength;
      if (size > MAX_BODY_BYTES) return null;
      text += decoder.decode(chunk, { stream: true });
    }
    return text + decoder.decode();
  } catch {
    return null;
  }
}
