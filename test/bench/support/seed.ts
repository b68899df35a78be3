import { operatorFrom } from "../../../dev/operator.ts";
import { agents, apiKeys, calls, organizations } from "../../../src/db/schema/index.ts";
import { newCallId, newId } from "../../../src/ids.ts";
import { newKey } from "../../../src/resources/keys/create.ts";
import { allScopes } from "../../../src/resources/keys/scopes.ts";
import { newRoutingTag } from "../../../src/resources/keys/secret.ts";

export type Tenant = { organizationId: string; callId: string; keys: string[] };

const AT_ONCE = 8;

/** Organizations with keys, one agent and one call each, written as the service itself writes them. */
export async function seedTenants(
  variables: Record<string, string>,
  size: { organizations: number; keysEach: number },
): Promise<Tenant[]> {
  const operator = operatorFrom(variables);
  const tenants: Tenant[] = [];
  let left = size.organizations;
  const seeder = async () => {
    while (left-- > 0) tenants.push(await seedTenant(operator, size.keysEach));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, seeder));
  return tenants;
}

async function seedTenant(
  operator: ReturnType<typeof operatorFrom>,
  keyCount: number,
): Promise<Tenant> {
  const { now, vault, system } = operator;
  const organizationId = newId("org", now);
  const routingTag = newRoutingTag();
  const common = { organizationId, routingTag, vault, now, options: operator };
  const keys = await Promise.all(
    Array.from({ length: keyCount }, (_, index) =>
      newKey(common, {
        name: `Key ${index}`,
        scopes: [...allScopes],
        expiresAt: null,
        rateLimitPerMinute: null,
        rateLimitPerHour: null,
        allowedIps: null,
        callbackUrl: null,
      }),
    ),
  );
  const agent = agentOf(organizationId, now);
  const call = callOf(organizationId, agent.id, now);
  await system.run((q) => [
    q.insert(organizations).values({
      ...{ id: organizationId, name: "Bench", routingTag },
      createdAt: new Date(now),
    }),
    q.insert(apiKeys).values(keys.map(({ row }) => row)),
    q.insert(agents).values(agent),
    q.insert(calls).values(call),
  ]);
  return { organizationId, callId: call.id, keys: keys.map(({ secrets }) => secrets.key) };
}

function agentOf(orgId: string, now: number): typeof agents.$inferInsert {
  return {
    orgId,
    id: newId("agt", now),
    kind: "conversation",
    name: "Ada",
    companyName: "Example",
    industry: "Trade",
    language: "en",
    taskType: "Support",
    firstMessage: "Hello, how can I help?",
    systemPrompt: "You answer questions about orders. ".repeat(20),
    provider: "bench",
    model: null,
    voiceProvider: "bench",
    voiceModel: "bench",
    voiceId: "bench",
    hipaa: false,
    endCallPhrases: [],
    createdAt: new Date(now),
    updatedAt: new Date(now),
  };
}

function callOf(orgId: string, assistantId: string, now: number): typeof calls.$inferInsert {
  const at = new Date(now);
  return {
    orgId,
    id: newCallId(now),
    type: "web",
    status: 3,
    assistantId,
    apiKeyId: null,
    accessPoint: "api",
    direction: "inbound",
    endReason: "client_ended",
    durationSeconds: 60,
    createdAt: at,
    startedAt: at,
    endedAt: at,
  };
}
