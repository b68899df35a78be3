import { expect, test } from "vitest";
import { newOrganization, request } from "../../support/worker/client.ts";

test("a revoked key is refused by the next request", async () => {
  const { apiKey } = await newOrganization();
  const created = await request("POST", "/v1/auth/keys", { key: apiKey, json: {} });
  const { id, key } = created.body.data;
  expect((await request("GET", "/v1/auth/scopes", { key })).status).toBe(200);

  const revoked = await request("POST", `/v1/auth/keys/${id}/revoke`, { key: apiKey });
  expect(revoked.body.data).toEqual({ id, status: "revoked" });

  const refused = await request("GET", "/v1/auth/scopes", { key });
  expect(refused.status).toBe(401);
  expect(refused.body.error.code).toBe("key_revoked");
});

test("revoking twice is no error, and a revoked key stays in the list", async () => {
  const { apiKey } = await newOrganization();
  const created = await request("POST", "/v1/auth/keys", { key: apiKey, json: {} });
  const { id } = created.body.data;
  await request("POST", `/v1/auth/keys/${id}/revoke`, { key: apiKey });
  expect((await request("POST", `/v1/auth/keys/${id}/revoke`, { key: apiKey })).status).toBe(200);

  const list = await request("GET", "/v1/auth/keys", { key: apiKey });
  expect(list.body.data).toContainEqual(expect.objectContaining({ id, status: "revoked" }));
});
