import * as z from "zod";
import type { Context } from "../../context.ts";
import { type Failure, failure } from "../../errors.ts";
import { changeKey } from "./change.ts";
import { Scopes } from "./scopes.ts";
import type { KeyRow } from "./view.ts";

export const ReplaceScopes = z.object({ scopes: Scopes });

export function replaceScopes(
  ctx: Context,
  id: string,
  { scopes }: z.output<typeof ReplaceScopes>,
): Promise<KeyRow | Failure> {
  return changeKey(ctx, id, (key) =>
    key.status === "revoked"
      ? failure("key_is_revoked", "A revoked key cannot be changed")
      : { set: { scopes }, action: "scopes_replaced", details: { from: key.scopes, to: scopes } },
  );
}
