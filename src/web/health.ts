import { sql } from "drizzle-orm";
import type { System } from "../db/system.ts";
import { Unavailable } from "../errors.ts";

const ANSWER_WITHIN_MS = 2_000;

/** Asks the database for nothing, and no longer than a monitor waits. Throws `Unavailable`. */
export async function reachDatabase(system: System): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Unavailable("the database")), ANSWER_WITHIN_MS);
  const asked = system.run((q) => [q.execute(sql`select 1`)]);
  try {
    await Promise.race([asked, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
