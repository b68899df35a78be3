import { sql } from "drizzle-orm";
import type { BatchItem, BatchResponse } from "drizzle-orm/batch";
import type { Database } from "./connect.ts";
import { DatabaseError, databaseFailure } from "./failure.ts";
import { statements } from "./statements.ts";

type Item = BatchItem<"pg">;
type Build<T extends readonly [Item, ...Item[]]> = (q: typeof statements) => T;

/**
 * The only way to the data of an organization. Each access is one Neon batch, and so one
 * transaction, whose first statement takes the tenant's role and names the organization: what
 * forgets to filter finds nothing. Throws `Unavailable` or `DatabaseError`.
 */
export type Tenant = {
  readonly organizationId: string;
  /** Statements that may safely run twice: asked once more when the database did not answer. */
  read<const T extends readonly [Item, ...Item[]]>(build: Build<T>): Promise<BatchResponse<T>>;
  /** All or nothing. Never repeated: when the answer is lost, whether it happened is unknown. */
  write<const T extends readonly [Item, ...Item[]]>(build: Build<T>): Promise<BatchResponse<T>>;
};

export function tenant(db: Database, organizationId: string): Tenant {
  async function run<const T extends readonly [Item, ...Item[]]>(build: Build<T>) {
    const enter = statements.execute(
      sql`select set_config('role', 'app_tenant', true), set_config('app.org_id', ${organizationId}, true)`,
    );
    try {
      const [, ...results] = await db.batch([enter, ...build(statements)]);
      return results as unknown as BatchResponse<T>;
    } catch (error) {
      throw databaseFailure(error);
    }
  }
  return {
    organizationId,
    write: run,
    async read(build) {
      try {
        return await run(build);
      } catch (error) {
        if (error instanceof DatabaseError) throw error;
        return run(build);
      }
    },
  };
}
