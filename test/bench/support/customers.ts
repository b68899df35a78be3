import { operatorFrom } from "../../../dev/operator.ts";
import { createFirstAgent } from "../../../src/operator/create-first-agent.ts";
import { createOrganization } from "../../../src/operator/create-organization.ts";
import { apiClient } from "../../support/node/api.ts";

export type Customer = { agentId: string; api: ReturnType<typeof apiClient> };

/** Several organizations with an agent each: none of them reaches its limits. */
export function newCustomers(
  variables: Record<string, string>,
  baseUrl: string,
  count: number,
): Promise<Customer[]> {
  const operator = operatorFrom(variables);
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const made = await createOrganization(operator, { name: `Bench ${index}` });
      const agentId = await createFirstAgent(operator.tenant(made.organizationId), operator.now);
      return { agentId, api: apiClient(baseUrl, made.apiKey) };
    }),
  );
}
