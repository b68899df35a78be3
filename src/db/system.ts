import type { BatchItem, BatchResponse } from "drizzle-orm/batch";
import type { Database } from "./connect.ts";
import { databaseFailure } from "./failure.ts";
import { statements } from "./statements.ts";

type Item = BatchItem<"pg">;

/**
 * The one door without an organization: for the gate's fill, which knows only a tag, and for the
 * sweeper, which walks all. Throws `Unavailable` or `DatabaseError`.
 */
export type System = {
  run<const T extends readonly [Item, ...Item[]]>(
    build: (q: typeof statements) => T,
  ): Promise<BatchResponse<T>>;
};

export function system(db: Database): System {
  return {
    async run(build) {
      try {
        return await db.batch(build(statements));
      } catch (error) {
        throw databaseFailure(error);
      }
    },
  };
}
