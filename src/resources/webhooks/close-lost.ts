import { and, eq, lt } from "drizzle-orm";
import { attempts } from "../../db/schema/index.ts";
import type { System } from "../../db/system.ts";

/** Longer than the lease under which an attempt is made. */
const LOST_AFTER_MS = 3 * 60_000;

/** Attempts whose Worker died, and whose delivery will not be attempted again. */
export async function closeLostAttempts(system: System, now: number): Promise<void> {
  await system.run((q) => [
    q
      .update(attempts)
      .set({ outcome: "failed", error: "lost", responseBody: "lost" })
      .where(
        and(eq(attempts.outcome, "pending"), lt(attempts.createdAt, new Date(now - LOST_AFTER_MS))),
      ),
  ]);
}
