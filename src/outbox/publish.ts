import type { Queue } from "../ports/queue.ts";

export type Due = {
  orgId: string;
  id: string;
  task: string;
  gen: number;
  delaySeconds: number;
  /** Null or absent: the organization's. */
  lane?: string | null;
};

/** How many messages of an organization, and how many of one narrower lane, are under way at once. */
const ORGANIZATION_WIDTH = 20;
const LANE_WIDTH = 5;

/**
 * Hands rows to the queue after their commit. When it fails the rows stay, and the sweeper publishes
 * them under the next generation.
 */
export async function publishDue(queue: Queue, rows: readonly Due[]): Promise<void> {
  if (rows.length === 0) return;
  await queue.publish(
    rows.map((row) => ({
      task: row.task,
      body: { org: row.orgId, id: row.id, gen: row.gen },
      delaySeconds: row.delaySeconds,
      lane: row.lane
        ? { name: `${row.orgId}.${row.lane}`, width: LANE_WIDTH }
        : { name: row.orgId, width: ORGANIZATION_WIDTH },
    })),
  );
}
