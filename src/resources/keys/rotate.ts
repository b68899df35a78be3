import type { Context } from "../../context.ts";
import { type Failure, failure, isFailure } from "../../errors.ts";
import { changeKey } from "./change.ts";
import type { CreatedKey } from "./create.ts";
import { newSecret } from "./secret.ts";

/** A new secret for the same key; the one before is refused from the answer on. */
export async function rotateKey(ctx: Context, id: string): Promise<CreatedKey | Failure> {
  const secret = await newSecret(ctx.routingTag, ctx.options.keyCheckSecret);
  const row = await changeKey(ctx, id, (key) =>
    key.status === "revoked"
      ? failure("key_is_revoked", "A revoked key cannot be rotated")
      : {
          set: { secretHash: secret.hash, secretLast4: secret.last4 },
          action: "rotated",
          details: { before: key.secretLast4, after: secret.last4 },
        },
  );
  if (isFailure(row)) return row;
  const webhookSecret = await ctx.vault.open(ctx.organizationId, row.id, row.webhookSecret);
  return { row, secrets: { key: secret.text, webhookSecret } };
}
