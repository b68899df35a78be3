import { apiKeys, keyAudit, organizations } from "../db/schema/index.ts";
import type { System } from "../db/system.ts";
import { newId } from "../ids.ts";
import { newKey } from "../resources/keys/create.ts";
import { allScopes } from "../resources/keys/scopes.ts";
import { newRoutingTag } from "../resources/keys/secret.ts";
import type { Vault } from "../vault.ts";

export type Operator = {
  system: System;
  vault: Vault;
  keyCheckSecret: string;
  now: number;
};

export type FirstKey = {
  organizationId: string;
  apiKey: string;
  publicKey: string;
  webhookSecret: string;
};

/** An organization and its first key, which may do everything; all later keys come from the API. */
export async function createOrganization(
  operator: Operator,
  { name, callbackUrl = null }: { name: string; callbackUrl?: string | null },
): Promise<FirstKey> {
  const { now, vault, system } = operator;
  const organizationId = newId("org", now);
  const routingTag = newRoutingTag();
  const { row, secrets } = await newKey(
    { organizationId, routingTag, vault, now, options: operator },
    {
      name: "First key",
      scopes: [...allScopes],
      expiresAt: null,
      rateLimitPerMinute: null,
      rateLimitPerHour: null,
      allowedIps: null,
      callbackUrl,
    },
  );
  const at = new Date(now);
  await system.run((q) => [
    q.insert(organizations).values({ id: organizationId, name, routingTag, createdAt: at }),
    q.insert(apiKeys).values(row),
    q.insert(keyAudit).values({
      orgId: organizationId,
      id: newId("aud", now),
      keyId: row.id,
      action: "created",
      actorKeyId: null,
      details: { scopes: row.scopes },
      at,
    }),
  ]);
  return {
    organizationId,
    apiKey: secrets.key,
    publicKey: row.publicKey,
    webhookSecret: secrets.webhookSecret,
  };
}
