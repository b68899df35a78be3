import { expect, test } from "vitest";
import { newOrganization } from "../../support/worker/client.ts";
import { auditOf, change, createKey, knock, replaceScopes } from "./support.ts";

test("scopes are replaced as a whole, and hold from the answer on", async () => {
  const { apiKey } = await newOrganization();
  const { id, key, publicKey } = await createKey(apiKey, { name: "k", scopes: ["calls:read"] });
  expect((await knock(key)).status).toBe(403);

  const replaced = await replaceScopes(apiKey, id, ["keys:read", "agents:read", "keys:read"]);
  expect(replaced.status).toBe(200);
  expect(replaced.body.data).toEqual({
    id,
    name: "k",
    publicKey,
    scopes: ["keys:read", "agents:read"],
    status: "active",
    expiresAt: null,
  });
  expect((await knock(key)).status).toBe(200);
  expect((await replaceScopes(apiKey, id, [])).body.data.scopes).toEqual([]);
  expect((await knock(key)).status).toBe(403);
});

test("unknown or missing scopes are refused and change nothing", async () => {
  const { apiKey, organizationId } = await newOrganization();
  const { id } = await createKey(apiKey);
  expect((await replaceScopes(apiKey, id, ["nope"])).status).toBe(400);
  const missing = await replaceScopes(apiKey, id, undefined as unknown as string[]);
  expect([missing.status, missing.body.error.issues[0].path]).toEqual([400, "scopes"]);
  expect(await auditOf(organizationId, id)).toHaveLength(1);
});

test("a rotated key keeps everything but its secret, which dies at once", async () => {
  const { apiKey } = await newOrganization();
  const before = await createKey(apiKey, {
    name: "k",
    scopes: ["keys:read"],
    expiresAt: "2100-01-01T00:00:00Z",
    rateLimitPerMinute: 7,
    rateLimitPerHour: 70,
    callbackUrl: "https://hooks.example.com/",
  });
  const rotated = await change(apiKey, before.id, "rotate");
  expect(rotated.status).toBe(200);
  expect(rotated.body.data).toEqual({ ...before, key: expect.stringMatching(/^sk_live_/) });
  expect(rotated.body.data.key).not.toBe(before.key);

  const dead = await knock(before.key);
  expect([dead.status, dead.body.error.code]).toEqual([401, "invalid_api_key"]);
  expect((await knock(rotated.body.data.key)).status).toBe(200);
});

test("a key can rotate and revoke itself", async () => {
  const { apiKey } = await newOrganization();
  const own = await createKey(apiKey);
  const rotated = await change(own.key, own.id, "rotate");
  expect((await change(rotated.body.data.key, own.id, "revoke")).status).toBe(200);
  expect((await knock(rotated.body.data.key)).status).toBe(401);
});

test("a revoked key is refused, stays in the list, and revoking it twice is no error", async () => {
  const { apiKey, organizationId } = await newOrganization();
  const { id, key } = await createKey(apiKey);
  for (const _ of [1, 2]) {
    const revoked = await change(apiKey, id, "revoke");
    expect([revoked.status, revoked.body.data]).toEqual([200, { id, status: "revoked" }]);
  }
  const refused = await knock(key);
  expect([refused.status, refused.body.error.code]).toEqual([401, "key_revoked"]);
  expect((await auditOf(organizationId, id)).map(({ action }) => action)).toEqual([
    "created",
    "revoked",
  ]);
});

test("nothing of a revoked key can be changed", async () => {
  const { apiKey } = await newOrganization();
  const { id } = await createKey(apiKey);
  await change(apiKey, id, "revoke");
  for (const answer of [
    await change(apiKey, id, "rotate"),
    await change(apiKey, id, "webhook-secret/rotate"),
    await replaceScopes(apiKey, id, ["keys:read"]),
  ]) {
    expect([answer.status, answer.body.error.code]).toEqual([400, "key_revoked"]);
  }
});

test("a rotated webhook secret is new, and a rotation of the key keeps it", async () => {
  const { apiKey } = await newOrganization();
  const { id, key, webhookSecret } = await createKey(apiKey);
  const rotated = await change(apiKey, id, "webhook-secret/rotate");
  expect(rotated.status).toBe(200);
  expect(rotated.body.data).toEqual({ id, webhookSecret: expect.stringMatching(/^whsec_/) });
  expect(rotated.body.data.webhookSecret).not.toBe(webhookSecret);
  expect((await knock(key)).status).toBe(200);
  expect((await change(apiKey, id, "rotate")).body.data.webhookSecret).toBe(
    rotated.body.data.webhookSecret,
  );
});

test("another organization's key answers exactly what an unknown one answers", async () => {
  const [own, other] = await Promise.all([newOrganization(), newOrganization()]);
  const foreign = await createKey(other.apiKey);
  const answersFor = async (id: string) => {
    const answers = [
      await replaceScopes(own.apiKey, id, []),
      await change(own.apiKey, id, "rotate"),
      await change(own.apiKey, id, "revoke"),
      await change(own.apiKey, id, "webhook-secret/rotate"),
    ];
    return answers.map(({ status, body }) => [status, body.message, body.error.code]);
  };
  const unknown = await answersFor("key_00000000000000000000000000");
  expect(unknown).toEqual(Array(4).fill([404, expect.any(String), "key_not_found"]));
  expect(await answersFor(foreign.id)).toEqual(unknown);
  expect(await answersFor("%F0%9F%94%91")).toEqual(unknown);
  expect((await knock(foreign.key)).status).toBe(200);
});

test("each change leaves one entry in the audit trail, and no secret in it", async () => {
  const { apiKey, organizationId } = await newOrganization();
  const { id, key, webhookSecret } = await createKey(apiKey, { scopes: ["keys:read"] });
  await replaceScopes(apiKey, id, ["calls:read"]);
  const rotated = await change(apiKey, id, "rotate");
  const secret = await change(apiKey, id, "webhook-secret/rotate");
  await change(apiKey, id, "revoke");

  const audit = await auditOf(organizationId, id);
  expect(audit.map(({ action, details }) => [action, details])).toEqual([
    ["created", { scopes: ["keys:read"] }],
    ["scopes_replaced", { from: ["keys:read"], to: ["calls:read"] }],
    ["rotated", { before: key.slice(-4), after: rotated.body.data.key.slice(-4) }],
    ["webhook_secret_rotated", {}],
    ["revoked", {}],
  ]);
  const text = JSON.stringify(audit);
  for (const hidden of [
    key,
    webhookSecret,
    rotated.body.data.key,
    secret.body.data.webhookSecret,
  ]) {
    expect(text).not.toContain(hidden);
  }
});
