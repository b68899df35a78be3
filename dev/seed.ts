import { createOrganization } from "../src/operator/create-organization.ts";
import { operatorFrom } from "./operator.ts";

export type Seeds = {
  organizationId: string;
  apiKey: string;
  publicKey: string;
  webhookSecret: string;
  otherApiKey: string;
};

/** Two organizations, so that the wall between them can be tried; the first one has an inbox. */
export async function seed(variables: Record<string, string>): Promise<Seeds> {
  const operator = operatorFrom(variables);
  const inbox = `${variables["WEBHOOK_DEV_ORIGINS"]}/inbox/first`;
  const first = await createOrganization(operator, { name: "First", callbackUrl: inbox });
  const other = await createOrganization(operator, { name: "Other" });
  return { ...first, otherApiKey: other.apiKey };
}
