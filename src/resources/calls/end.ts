import type { Context } from "../../context.ts";
import { type Failure, isFailure } from "../../errors.ts";
import { findCall } from "./find.ts";
import { isOpen } from "./status.ts";
import type { CallRow } from "./view.ts";

/** Ends a live call; ending one that is over changes nothing. */
export async function endCall(ctx: Context, id: string): Promise<CallRow | Failure> {
  const call = await findCall(ctx, id);
  if (isFailure(call) || !isOpen(call.status)) return call;
  await ctx.sessions(id).end("api");
  return findCall(ctx, id);
}
