import { lt, sql } from "drizzle-orm";
import { attempts, events, idempotencyKeys, outbox } from "../db/schema/index.ts";
import type { System } from "../db/system.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const KEPT_MS = { outbox: 7 * DAY_MS, idempotency: DAY_MS, bodies: 30 * DAY_MS };
/** So that one sweep never holds a transaction for long. */
const AT_ONCE = 5_000;

/** Forgets what is older than its time. Of webhooks only the texts go; that they were is kept. */
export async function prune(system: System, now: number): Promise<void> {
  const before = (ms: number) => new Date(now - ms);
  const bodies = before(KEPT_MS.bodies).toISOString();
  await system.run((q) => [
    q.delete(outbox).where(lt(outbox.doneAt, before(KEPT_MS.outbox))),
    q.delete(idempotencyKeys).where(lt(idempotencyKeys.createdAt, before(KEPT_MS.idempotency))),
    q.execute(sql`
      update ${events} set body = '' where (org_id, id) in (
        select org_id, id from ${events}
        where created_at < ${bodies} and body <> '' limit ${AT_ONCE})`),
    q.execute(sql`
      update ${attempts} set response_body = '' where (org_id, id) in (
        select org_id, id from ${attempts}
        where created_at < ${bodies} and response_body <> '' limit ${AT_ONCE})`),
  ]);
}
