import { env, exports } from "cloudflare:workers";
import { inject } from "vitest";
import { connect } from "../../../src/db/connect.ts";
import { system } from "../../../src/db/system.ts";
import { tenant } from "../../../src/db/tenant.ts";
import { createOrganization, type FirstKey } from "../../../src/operator/create-organization.ts";
import { vault } from "../../../src/vault.ts";

export const worldUrl = inject("worldUrl");
const variables = inject("variables");

export const db = connect({
  url: variables["DATABASE_URL"] ?? "",
  endpoint: variables["NEON_ENDPOINT"],
});
export const tenantOf = (organizationId: string) => tenant(db, organizationId);
export const systemDoor = system(db);
export { env };

/** A new organization with its first key; tests share a database and never an organization. */
export function newOrganization(callbackUrl?: string): Promise<FirstKey> {
  return createOrganization(
    {
      system: systemDoor,
      vault: vault(variables["VAULT_KEYS"] ?? ""),
      keyCheckSecret: variables["KEY_CHECK_SECRET"] ?? "",
      now: Date.now(),
    },
    { name: "Test", ...(callbackUrl ? { callbackUrl } : {}) },
  );
}

export type Answer = {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts the shape of what it reads
  body: any;
};

/** A request to the Worker under test; `json` is sent as the body. */
export async function request(
  method: string,
  path: string,
  options: { key?: string; json?: unknown; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  const headers = new Headers(options.headers);
  if (options.key) headers.set("X-API-Key", options.key);
  if (options.json !== undefined) headers.set("Content-Type", "application/json");
  const body = options.json === undefined ? options.body : JSON.stringify(options.json);
  const response = await exports.default.fetch(`http://service.test${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json");
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text ? JSON.parse(text) : text,
  };
}
