import { createFirstAgent } from "../src/operator/create-first-agent.ts";
import { createOrganization } from "../src/operator/create-organization.ts";
import { operatorFrom } from "./operator.ts";

export type Seeds = {
  organizationId: string;
  apiKey: string;
  publicKey: string;
  webhookSecret: string;
  otherApiKey: string;
};

/**
 * Two organizations, so that the wall between them can be tried, each with an agent to talk to; the
 * first one's webhooks go to an inbox. Not through the API: the first key's limits stay untouched.
 */
export async function seed(variables: Record<string, string>, worldUrl: string): Promise<Seeds> {
  const operator = operatorFrom(variables);
  const inbox = `${worldUrl}/inbox/first`;
  const first = await createOrganization(operator, { name: "First", callbackUrl: inbox });
  const other = await createOrganization(operator, { name: "Other" });
  for (const { organizationId } of [first, other]) {
    await createFirstAgent(operator.tenant(organizationId), operator.now);
  }
  return { ...first, otherApiKey: other.apiKey };
}
