import type { NeonQueryFunction } from "@neondatabase/serverless";
import { drizzle } from "drizzle-orm/neon-http";

const refuse = () => {
  throw new Error("A statement runs only in a batch of a tenant or of the system, never alone");
};

/**
 * Builds statements and can run none: awaiting one throws. They run in the batch of a door
 * (`tenant.ts`, `system.ts`), which adds the organization.
 */
export const statements = drizzle(
  Object.assign(refuse, {
    query: refuse,
    transaction: refuse,
    unsafe: refuse,
  }) as unknown as NeonQueryFunction<false, false>,
);
