import { listDurableObjectIds } from "cloudflare:test";
import { expect, inject, test } from "vitest";
import { newRoutingTag, newSecret } from "../../../src/resources/keys/secret.ts";
import { env, newOrganization, request } from "../../support/worker/client.ts";
import {
  change,
  countNeonRequests,
  createKey,
  knock,
  routingTagOf,
  stopTheClock,
} from "./support.ts";

const KEY_CHECK_SECRET = inject("variables")["KEY_CHECK_SECRET"] ?? "";

async function refusal(key: string | undefined, headers: Record<string, string> = {}) {
  const { status, body } = await request("GET", "/v1/auth/scopes", {
    headers,
    ...(key === undefined ? {} : { key }),
  });
  return [status, body.error?.code];
}

test("no key is 401 missing_api_key", async () => {
  expect(await refusal(undefined)).toEqual([401, "missing_api_key"]);
  expect(await refusal("")).toEqual([401, "missing_api_key"]);
});

test("a malformed or forged key is 401 before any gate or database is asked", async () => {
  const { apiKey, publicKey } = await newOrganization();
  await knock(apiKey);
  const gates = (await listDurableObjectIds(env.KEY_GATE)).length;
  const neonRequests = countNeonRequests();
  const last = apiKey.endsWith("a") ? "b" : "a";
  const forged = [
    "garbage",
    "sk_live_",
    publicKey,
    apiKey.slice(0, -1),
    `${apiKey}a`,
    `${apiKey}, ${apiKey}`,
    apiKey.slice(0, -1) + last,
    apiKey.replace("sk_live_", "sk_test_"),
    apiKey.replace(/^sk_live_.{10}/, `sk_live_${newRoutingTag()}`),
    (await newSecret(newRoutingTag(), "another check secret, as long as ours")).text,
    `sk_live_${"é".repeat(49)}`.normalize("NFD").slice(0, 57),
    "x".repeat(5_000),
  ];
  for (const key of forged) {
    expect(await refusal(encodeURI(key))).toEqual([401, "invalid_api_key"]);
  }
  expect(neonRequests()).toBe(0);
  expect(await listDurableObjectIds(env.KEY_GATE)).toHaveLength(gates);
});

test("a well-made key that is nobody's is 401, also in no organization", async () => {
  const { apiKey } = await newOrganization();
  const tag = routingTagOf(apiKey);
  for (const routingTag of [tag, newRoutingTag()]) {
    const { text } = await newSecret(routingTag, KEY_CHECK_SECRET);
    expect(await refusal(text)).toEqual([401, "invalid_api_key"]);
  }
});

test("a revoked, a rotated and an expired key are each refused by their own code", async () => {
  const clock = stopTheClock();
  const { apiKey } = await newOrganization();
  const revoked = await createKey(apiKey);
  const rotated = await createKey(apiKey);
  const expiresAt = new Date(Date.now() + 30_000).toISOString();
  const expired = await createKey(apiKey, { expiresAt });
  await change(apiKey, revoked.id, "revoke");
  await change(apiKey, rotated.id, "rotate");
  clock.advance(29_999);
  expect((await knock(expired.key)).status).toBe(200);
  clock.advance(1);
  expect(await refusal(revoked.key)).toEqual([401, "key_revoked"]);
  expect(await refusal(rotated.key)).toEqual([401, "invalid_api_key"]);
  expect(await refusal(expired.key)).toEqual([401, "key_expired"]);

  const list = await request("GET", "/v1/auth/keys", { key: apiKey });
  expect(list.body.data).toContainEqual(
    expect.objectContaining({ id: expired.id, status: "expired", expiresAt }),
  );
});

test("a key with an address list is let in only from there", async () => {
  const { apiKey } = await newOrganization();
  const { key } = await createKey(apiKey, {
    allowedIps: ["192.0.2.0/24", "2001:db8:1::/48"],
  });
  const from = (address: string) => refusal(key, { "CF-Connecting-IP": address });
  for (const inside of ["192.0.2.255", "::ffff:192.0.2.1", "2001:DB8:1:ffff::1"]) {
    expect(await from(inside)).toEqual([200, undefined]);
  }
  for (const outside of [
    "192.0.3.0",
    "2001:db8:2::1",
    "::192.0.2.1",
    "192.0.2.1, 10.0.0.1",
    "10.0.0.1, 192.0.2.1",
    "192.0.2.01",
    "0xc0.0.2.1",
    "nonsense",
  ]) {
    expect(await from(outside)).toEqual([403, "ip_not_allowed"]);
  }
  expect(await refusal(key)).toEqual([403, "ip_not_allowed"]);
  expect(await refusal(key, { "X-Forwarded-For": "192.0.2.1" })).toEqual([403, "ip_not_allowed"]);
});

test("key comes before address, address before rate, rate before scope", async () => {
  stopTheClock();
  const { apiKey } = await newOrganization();
  const { id, key } = await createKey(apiKey, { allowedIps: ["192.0.2.1"], scopes: [] });
  const inside = { "CF-Connecting-IP": "192.0.2.1" };
  expect(await refusal(key, inside)).toEqual([403, "missing_scope"]);
  for (let i = 1; i < 60; i++) await refusal(key, inside);
  expect(await refusal(key, inside)).toEqual([429, "rate_limited"]);
  expect(await refusal(key)).toEqual([403, "ip_not_allowed"]);
  await change(apiKey, id, "revoke");
  expect(await refusal(key)).toEqual([401, "key_revoked"]);
});

test("a refusal by key, address or rate uses up neither window", async () => {
  stopTheClock();
  const { apiKey } = await newOrganization();
  const listed = await createKey(apiKey, { allowedIps: ["192.0.2.1"] });
  const revoked = await createKey(apiKey);
  await change(apiKey, revoked.id, "revoke");
  const organizationLeft = async () =>
    Number(/"org";r=(\d+)/.exec((await knock(apiKey)).headers.get("RateLimit") ?? "")?.[1]);
  const before = await organizationLeft();
  for (let i = 0; i < 5; i++) await Promise.all([knock(listed.key), knock(revoked.key)]);
  const spent = await createKey(apiKey);
  const accepted = await Promise.all(Array.from({ length: 65 }, () => knock(spent.key)));
  expect(accepted.filter(({ status }) => status === 200)).toHaveLength(60);
  expect(await organizationLeft()).toBe(before - 1 - 60 - 1);

  const inside = await knock(listed.key, { "CF-Connecting-IP": "192.0.2.1" });
  expect(inside.headers.get("X-RateLimit-Remaining")).toBe("59");
});

test("every authenticated request counts, whatever becomes of it", async () => {
  stopTheClock();
  const { apiKey } = await newOrganization();
  const { key } = await createKey(apiKey, { scopes: ["keys:write"] });
  await knock(key);
  await request("GET", "/v1/no-such-path", { key });
  await request("DELETE", "/v1/auth/keys", { key });
  await request("POST", "/v1/auth/keys", { key, json: { name: 7 } });
  const { headers } = await request("POST", "/v1/auth/keys/key_x/revoke", { key });
  expect(headers.get("X-RateLimit-Remaining")).toBe("55");
});
