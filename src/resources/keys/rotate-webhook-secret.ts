import type { Context } from "../../context.ts";
import { type Failure, failure, isFailure } from "../../errors.ts";
import { newWebhookSecret } from "../webhooks/secret.ts";
import { changeKey } from "./change.ts";

const OVERLAP_MS = 24 * 60 * 60 * 1000;

/** Old and new both sign for a day, so that receivers can change theirs without missing an event. */
export async function rotateWebhookSecret(
  ctx: Context,
  id: string,
): Promise<{ id: string; webhookSecret: string } | Failure> {
  const webhookSecret = newWebhookSecret();
  const sealed = await ctx.vault.seal(ctx.organizationId, id, webhookSecret);
  const row = await changeKey(ctx, id, (key) =>
    key.status === "revoked"
      ? failure("key_is_revoked", "A revoked key cannot be changed")
      : {
          set: {
            webhookSecret: sealed,
            previousWebhookSecret: key.webhookSecret,
            previousWebhookSecretUntil: new Date(ctx.now + OVERLAP_MS),
          },
          action: "webhook_secret_rotated",
          details: {},
        },
  );
  return isFailure(row) ? row : { id: row.id, webhookSecret };
}
