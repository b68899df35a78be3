import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { allScopes } from "../../../src/resources/keys/scopes.ts";
import { newOrganization, request, systemDoor } from "../../support/worker/client.ts";
import { auditOf, createKey, knock } from "./support.ts";

const { apiKey, organizationId } = await newOrganization();

function create(json: object, key = apiKey) {
  return request("POST", "/v1/auth/keys", { key, json });
}

async function refusedPath(json: object): Promise<string | undefined> {
  const { status, body } = await create(json);
  return status === 400 && body.error.code === "validation_failed"
    ? body.error.issues[0].path
    : `${status}`;
}

test("a key needs no fields: it is named, active, and may do what its maker may", async () => {
  const { status, body } = await create({});
  expect(status).toBe(201);
  expect(body).toEqual({
    status: true,
    message: expect.any(String),
    data: {
      id: expect.stringMatching(/^key_[0-9A-HJKMNP-TV-Z]{26}$/),
      name: "API key",
      key: expect.stringMatching(/^sk_live_[0-9A-Za-z]{49}$/),
      publicKey: expect.stringMatching(/^pk_live_[0-9A-Za-z]{49}$/),
      webhookSecret: expect.stringMatching(/^whsec_[0-9A-Za-z+/]{43}=$/),
      scopes: allScopes,
      status: "active",
      expiresAt: null,
      callbackUrl: null,
      allowedIps: null,
      rateLimitPerMinute: null,
      rateLimitPerHour: null,
    },
  });
});

test("every field is kept and answered", async () => {
  const { status, body } = await create({
    name: "Billing",
    scopes: ["billing:read", "keys:read", "billing:read"],
    expiresAt: "2100-01-01T05:30:00.1234567+05:30",
    rateLimitPerMinute: 1_000,
    rateLimitPerHour: 10_000,
    allowedIps: ["203.0.113.7", "10.1.2.3/8", "2001:DB8:0:0::1/32", "::ffff:10.0.0.9/104"],
    callbackUrl: "https://hooks.example.com/voice?team=1",
    unknownField: { ignored: true },
  });
  expect(status).toBe(201);
  expect(body.data).toMatchObject({
    name: "Billing",
    scopes: ["billing:read", "keys:read"],
    expiresAt: "2100-01-01T00:00:00.123Z",
    rateLimitPerMinute: 1_000,
    rateLimitPerHour: 10_000,
    allowedIps: ["203.0.113.7", "10.0.0.0/8", "2001:db8::/32"],
    callbackUrl: "https://hooks.example.com/voice?team=1",
  });
  expect(body.data).not.toHaveProperty("unknownField");
});

test("a new key works at once, and its creation is in the audit trail", async () => {
  const created = await createKey(apiKey, { scopes: ["keys:read"] });
  expect((await knock(created.key)).status).toBe(200);
  expect(await auditOf(organizationId, created.id)).toEqual([
    {
      at: expect.any(String),
      action: "created",
      keyId: created.id,
      actorKeyId: expect.stringMatching(/^key_/),
      details: { scopes: ["keys:read"] },
    },
  ]);
});

test("a key with an empty list of scopes may do nothing", async () => {
  const created = await createKey(apiKey, { scopes: [] });
  const answer = await knock(created.key);
  expect([answer.status, answer.body.error.code]).toEqual([403, "missing_scope"]);
});

test("omitted scopes are the maker's own, and a maker may grant more than it has", async () => {
  const maker = await createKey(apiKey, { scopes: ["keys:write"] });
  expect((await create({}, maker.key)).body.data.scopes).toEqual(["keys:write"]);
  const more = await create({ scopes: ["calls:read"] }, maker.key);
  expect(more.body.data.scopes).toEqual(["calls:read"]);
});

test.each([
  ["an unknown scope", { scopes: ["keys:read", "keys:admin"] }, "scopes.1"],
  ["scopes that are no list", { scopes: "keys:read" }, "scopes"],
  ["an empty name", { name: "" }, "name"],
  ["a name that is too long", { name: "n".repeat(201) }, "name"],
  ["an expiry that has passed", { expiresAt: "2020-01-01T00:00:00Z" }, "expiresAt"],
  ["an expiry without an offset", { expiresAt: "2100-01-01T00:00:00" }, "expiresAt"],
  ["an expiry on a day that is none", { expiresAt: "2101-02-29T00:00:00Z" }, "expiresAt"],
  ["an expiry beyond four digits", { expiresAt: "9999-12-31T23:59:59-01:00" }, "expiresAt"],
  ["a minute limit of 0", { rateLimitPerMinute: 0 }, "rateLimitPerMinute"],
  ["a minute limit of 1001", { rateLimitPerMinute: 1_001 }, "rateLimitPerMinute"],
  ["a minute limit that is no integer", { rateLimitPerMinute: 1.5 }, "rateLimitPerMinute"],
  ["an hour limit of 0", { rateLimitPerHour: 0 }, "rateLimitPerHour"],
  ["an hour limit of 10001", { rateLimitPerHour: 10_001 }, "rateLimitPerHour"],
  ["a limit that is text", { rateLimitPerHour: "60" }, "rateLimitPerHour"],
  ["an empty address list", { allowedIps: [] }, "allowedIps"],
  ["a bad address", { allowedIps: ["10.0.0.1", "10.0.0.256"] }, "allowedIps.1"],
  ["a bad range", { allowedIps: ["10.0.0.0/33"] }, "allowedIps.0"],
  ["an ambiguous address", { allowedIps: ["::ffff:010.0.0.1"] }, "allowedIps.0"],
  ["a plain HTTP callback", { callbackUrl: "http://hooks.example.com" }, "callbackUrl"],
  ["a callback with a password", { callbackUrl: "https://a:b@example.com" }, "callbackUrl"],
  ["a callback to an address", { callbackUrl: "https://2130706433/" }, "callbackUrl"],
  ["a callback to localhost", { callbackUrl: "https://localhost/" }, "callbackUrl"],
  ["an empty callback", { callbackUrl: "" }, "callbackUrl"],
])("%s is refused by its name", async (_what, json, path) => {
  expect(await refusedPath(json)).toBe(path);
});

test.each(["2100-01-01T00:00:00Z", "2100-01-01T00:00:00.5-11:00", "2100-01-01T00:00:00+0530"])(
  "an expiry may be written %s",
  async (expiresAt) => {
    const { body } = await create({ expiresAt });
    expect(body.data.expiresAt).toBe(new Date(expiresAt).toISOString());
  },
);

test("an organization has at most a thousand keys", async () => {
  const crowded = await newOrganization();
  await systemDoor.run((q) => [
    q.execute(sql`
      insert into api_keys (org_id, id, name, public_key, secret_hash, secret_last4, scopes, status,
        webhook_secret, version, created_at)
      select org_id, id || n, name, public_key || n, secret_hash || n, secret_last4, scopes, status,
        webhook_secret, version, created_at
      from api_keys, generate_series(1, 998) n where org_id = ${crowded.organizationId}`),
  ]);
  expect((await create({}, crowded.apiKey)).status).toBe(201);
  const refused = await create({}, crowded.apiKey);
  expect([refused.status, refused.body.error.code]).toEqual([400, "limit_reached"]);
});
