import { expect, test } from "vitest";
import { allScopes, scopeDescriptions } from "../../../src/resources/keys/scopes.ts";
import { newOrganization, request } from "../../support/worker/client.ts";
import { change, createKey, knock } from "./support.ts";

function list(key: string, query = "") {
  return request("GET", `/v1/auth/keys${query}`, { key });
}

test("the list shows exactly the documented fields of all keys, newest first", async () => {
  const { apiKey } = await newOrganization();
  const first = await createKey(apiKey, { name: "one", expiresAt: "2100-01-01T00:00:00Z" });
  const second = await createKey(apiKey, { name: "two", scopes: [] });
  await change(apiKey, first.id, "revoke");

  const { status, body } = await list(apiKey);
  expect(status).toBe(200);
  expect(body.meta).toEqual({ page: 1, pageSize: 1_000, totalPages: 1, totalCount: 3 });
  expect(body.data).toEqual([
    {
      id: second.id,
      name: "two",
      publicKey: second.publicKey,
      scopes: [],
      status: "active",
      expiresAt: null,
    },
    {
      id: first.id,
      name: "one",
      publicKey: first.publicKey,
      scopes: allScopes,
      status: "revoked",
      expiresAt: "2100-01-01T00:00:00.000Z",
    },
    expect.objectContaining({ name: "First key" }),
  ]);
});

test("no other organization's key is in the list", async () => {
  const [one, other] = await Promise.all([newOrganization(), newOrganization()]);
  const created = await createKey(one.apiKey);
  const ids = (await list(other.apiKey)).body.data.map(({ id }: { id: string }) => id);
  expect(ids).toHaveLength(1);
  expect(ids).not.toContain(created.id);
});

test("pages follow each other, and bad paging is clamped to what meta says", async () => {
  const { apiKey } = await newOrganization();
  for (const name of ["a", "b", "c"]) await createKey(apiKey, { name });
  const names = async (query: string) => {
    const { body } = await list(apiKey, query);
    return [body.meta.page, body.meta.pageSize, body.data.map((key: { name: string }) => key.name)];
  };
  expect(await names("?page=1&pageSize=2")).toEqual([1, 2, ["c", "b"]]);
  expect(await names("?page=2&pageSize=2")).toEqual([2, 2, ["a", "First key"]]);
  expect(await names("?page=3&pageSize=2")).toEqual([3, 2, []]);
  expect(await names("?page=-1&pageSize=0")).toEqual([1, 1, ["c"]]);
  expect(await names("?page=x&pageSize=1000")).toEqual([1, 100, ["c", "b", "a", "First key"]]);
  expect((await list(apiKey, "?page=1e9")).body.data).toEqual([]);
});

test("the scopes are seventeen, each with a description", async () => {
  const { apiKey } = await newOrganization();
  const { status, body } = await knock(apiKey);
  expect(status).toBe(200);
  expect(body.data).toHaveLength(17);
  expect(body.data).toEqual(allScopes);
  expect(body.meta.descriptions).toEqual(scopeDescriptions);
});

test("reading keys takes keys:read, changing them keys:write", async () => {
  const { apiKey } = await newOrganization();
  const reader = await createKey(apiKey, { scopes: ["keys:read"] });
  const writer = await createKey(apiKey, { scopes: ["keys:write"] });
  const statuses = async (key: string) => [
    (await list(key)).status,
    (await knock(key)).status,
    (await request("POST", "/v1/auth/keys", { key, json: {} })).status,
    (
      await request("PATCH", `/v1/auth/keys/${reader.id}/scopes`, {
        key,
        json: { scopes: ["keys:read"] },
      })
    ).status,
    (await change(key, writer.id, "webhook-secret/rotate")).status,
    (await change(key, "key_unknown", "rotate")).status,
    (await change(key, "key_unknown", "revoke")).status,
  ];
  expect(await statuses(reader.key)).toEqual([200, 200, 403, 403, 403, 403, 403]);
  expect(await statuses(writer.key)).toEqual([403, 403, 201, 200, 200, 404, 404]);
});
