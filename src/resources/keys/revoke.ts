import type { Context } from "../../context.ts";
import { type Failure, failure, isFailure } from "../../errors.ts";
import { endCallsOfKey } from "../calls/end-calls-of-key.ts";
import { changeKey, findKey } from "./change.ts";
import type { KeyRow } from "./view.ts";

/** For good. Revoking twice is no error: the caller has what was asked for. */
export async function revokeKey(ctx: Context, id: string): Promise<KeyRow | Failure> {
  const revoked = await changeKey(ctx, id, (key) =>
    key.status === "revoked"
      ? failure("key_is_revoked", "Already revoked")
      : {
          set: { status: "revoked", revokedAt: new Date(ctx.now) },
          action: "revoked",
          details: {},
        },
  );
  if (isFailure(revoked) && revoked.failed !== "key_is_revoked") return revoked;
  // Also the second time: the first may have been cut off after its commit.
  ctx.later(endCallsOfKey(ctx, id));
  return isFailure(revoked) ? findKey(ctx, id) : revoked;
}
