import type { System } from "../db/system.ts";
import { Unavailable } from "../errors.ts";
import { outboxWarnings } from "../outbox/status.ts";

const ANSWER_WITHIN_MS = 2_000;

/** What should be looked at, told no later than a monitor waits. Throws `Unavailable`. */
export async function healthWarnings(system: System, sweepCron: string): Promise<string[]> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Unavailable("the database")), ANSWER_WITHIN_MS);
  try {
    return await Promise.race([outboxWarnings(system, sweepCron), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
