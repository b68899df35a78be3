import type { Context } from "hono";
import type { Context as ServiceContext } from "../context.ts";
import { isAtCeiling } from "../db/ceiling.ts";
import type { Tenant } from "../db/tenant.ts";
import { toHex } from "../encoding.ts";
import { failure, invalid } from "../errors.ts";
import { log } from "../log.ts";
import { readText } from "./body.ts";
import {
  CLAIM,
  type Claim,
  claim,
  finish,
  refuseUnlessClaimed,
  type Stored,
} from "./idempotency-claim.ts";
import { Refusal } from "./refusal.ts";
import type { Http } from "./types.ts";

const MAX_KEY_LENGTH = 255;
/** Whatever field they stand in. */
const SECRET = /^(sk_live_|whsec_)/;

/**
 * Runs a POST once for each `Idempotency-Key`, and answers the same request sent again with the
 * first one's answer. The claim is taken before the request is looked at; every write that the
 * request then makes carries, in its own transaction, the mark that it took effect, and refuses to
 * happen when somebody else has the claim by now.
 */
export async function onceOnly(
  c: Context<Http>,
  next: () => Promise<void>,
): Promise<Response | undefined> {
  const key = c.req.header("idempotency-key");
  if (key === undefined || c.req.method !== "POST") {
    await next();
    return undefined;
  }
  if (key.length === 0 || key.length > MAX_KEY_LENGTH) {
    throw new Refusal(invalid("Idempotency-Key", `must have 1 to ${MAX_KEY_LENGTH} characters`));
  }
  const { context } = c.var;
  const mine = await claimOf(c, key);
  const found = await claim(context.db, mine);
  if (found.kind !== "mine") return answerAgain(c, found);
  const guarded = guardedBy(context.db, mine);
  c.set("context", { ...context, db: guarded.db } satisfies ServiceContext);
  await next();
  guarded.release();
  // A copy: what is stored must not use up what is answered.
  const body = withoutSecrets(await c.res.clone().text());
  await finish(context.db, mine, { status: c.res.status, body }).catch(() =>
    // The effect's own mark is there all the same: it will not happen twice.
    log("warn", "idempotency_answer_lost", { requestId: c.var.requestId }),
  );
  return undefined;
}

async function claimOf(c: Context<Http>, key: string): Promise<Claim> {
  const { organizationId, keyId } = c.var.context;
  const body = await readText(c);
  const { search } = new URL(c.req.url);
  return {
    organizationId,
    id: await sha256(JSON.stringify([keyId, c.req.method, c.req.path, key])),
    fingerprint: await sha256(JSON.stringify([search, body])),
    token: crypto.randomUUID(),
  };
}

/** The tenant's door, with the claim at the head of every write until the request is over. */
function guardedBy(db: Tenant, mine: Claim): { db: Tenant; release(): void } {
  let isRunning = true;
  return {
    release() {
      isRunning = false;
    },
    db: {
      organizationId: db.organizationId,
      read: (build) => db.read(build),
      async write(build) {
        if (!isRunning) return db.write(build);
        try {
          const [, ...done] = await db.write((q) => [refuseUnlessClaimed(q, mine), ...build(q)]);
          return done as unknown as Awaited<ReturnType<typeof db.write<ReturnType<typeof build>>>>;
        } catch (error) {
          throw isAtCeiling(error, CLAIM) ? inFlight() : error;
        }
      },
    },
  };
}

function answerAgain(c: Context<Http>, found: Exclude<Stored, { kind: "mine" }>): Response {
  switch (found.kind) {
    case "mismatch":
      throw new Refusal(
        failure("idempotency_mismatch", "This Idempotency-Key was used for another request"),
      );
    case "in_flight":
      throw inFlight();
    case "lost":
      throw new Refusal(
        failure(
          "idempotency_outcome_lost",
          "The request with this Idempotency-Key took effect, but its answer was lost; look for what it made before you send it with another key",
        ),
        { headers: { "Idempotent-Replayed": "true" } },
      );
    case "answered":
      return c.body(found.body, found.status as 200, {
        "Content-Type": "application/json",
        "Idempotent-Replayed": "true",
      });
  }
}

function inFlight(): Refusal {
  return new Refusal(
    failure("idempotency_in_flight", "The request with this Idempotency-Key still runs"),
    { headers: { "Retry-After": "1" } },
  );
}

function withoutSecrets(body: string): string {
  if (body === "") return body;
  return JSON.stringify(JSON.parse(body), (_, value) =>
    typeof value === "string" && SECRET.test(value) ? null : value,
  );
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return toHex(new Uint8Array(digest));
}
