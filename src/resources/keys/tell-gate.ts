import type { Task } from "../../outbox/task.ts";

/** The operator changed an organization in Postgres; its gate, which has read it, reads it again. */
export const tellGate: Task = async (ctx, routingTag) => {
  await ctx.gates(routingTag).refill();
  return { statements: () => [], againInSeconds: null };
};
