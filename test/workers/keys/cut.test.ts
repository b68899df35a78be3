import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { and, eq } from "drizzle-orm";
import { expect, onTestFinished, test, vi } from "vitest";
import { apiKeys } from "../../../src/db/schema/index.ts";
import { KeyGateObject } from "../../../src/resources/keys/gate.ts";
import { type Answer, newOrganization, request, tenantOf } from "../../support/worker/client.ts";
import {
  auditOf,
  change,
  countNeonRequests,
  createKey,
  cutNeon,
  gateOf,
  knock,
  replaceScopes,
  routingTagOf,
  stopTheClock,
} from "./support.ts";

/** The connection of the commit itself: the one statement that names both the key and the trail. */
const commitOf = (id: string) => [id, "key_audit"];

function expectUnavailable(answer: Answer): void {
  expect([answer.status, answer.body.error.code]).toEqual([503, "unavailable"]);
  expect(answer.headers.get("Retry-After")).toBe("1");
}

/** The gate stores no end of any change, as if it were gone between the commit and its end. */
function loseTheEnd(): () => void {
  const lost = vi.spyOn(KeyGateObject.prototype, "finishChange").mockImplementation(() => {
    throw new Error("the gate is gone");
  });
  onTestFinished(() => lost.mockRestore());
  return () => lost.mockRestore();
}

function marksOf(apiKey: string): Promise<number> {
  return runInDurableObject(
    gateOf(apiKey),
    (_gate, { storage }) =>
      storage.sql.exec<{ marks: number }>("SELECT count(*) AS marks FROM marks").one().marks,
  );
}

test.each(["revoke", "rotate"])(
  "a %s cut before its commit changes nothing, and works when it is asked again",
  async (what) => {
    const { apiKey, organizationId } = await newOrganization();
    const { id, key } = await createKey(apiKey);
    await cutNeon({ when: "before", match: commitOf(id) });
    expectUnavailable(await change(apiKey, id, what));
    expect((await knock(key)).status).toBe(200);
    expect(await auditOf(organizationId, id)).toHaveLength(1);

    expect((await change(apiKey, id, what)).status).toBe(200);
    expect((await knock(key)).status).toBe(401);
    expect(await auditOf(organizationId, id)).toHaveLength(2);
    expect(await marksOf(apiKey)).toBe(0);
  },
);

test.each([
  ["revoke", "key_revoked"],
  ["rotate", "invalid_api_key"],
])("a %s whose commit lost its answer leaves the old secret dead", async (what, code) => {
  const { apiKey, organizationId } = await newOrganization();
  const { id, key } = await createKey(apiKey);
  await cutNeon({ when: "after", match: commitOf(id) });
  expectUnavailable(await change(apiKey, id, what));
  for (const _ of [1, 2]) {
    const refused = await knock(key);
    expect([refused.status, refused.body.error.code]).toEqual([401, code]);
  }
  expect(await marksOf(apiKey)).toBe(0);
  expect(await auditOf(organizationId, id)).toHaveLength(2);
});

test.each(["revoke", "rotate"])(
  "a %s whose end never reaches the gate leaves the old secret dead, also over an eviction",
  async (what) => {
    const { apiKey, organizationId } = await newOrganization();
    const { id, key } = await createKey(apiKey);
    const restore = loseTheEnd();
    expectUnavailable(await change(apiKey, id, what));
    restore();
    expect(await marksOf(apiKey)).toBe(1);
    await evictDurableObject(gateOf(apiKey));

    const answers = await Promise.all(Array.from({ length: 20 }, () => knock(key)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    expect(await marksOf(apiKey)).toBe(0);
    expect(await auditOf(organizationId, id)).toHaveLength(2);
  },
);

test("scopes whose end never reaches the gate hold for the next request", async () => {
  const { apiKey } = await newOrganization();
  const { id, key } = await createKey(apiKey);
  const restore = loseTheEnd();
  expectUnavailable(await replaceScopes(apiKey, id, []));
  restore();
  expect((await knock(key)).status).toBe(403);
});

test("a rotated key whose answer was lost can be rotated again", async () => {
  const { apiKey } = await newOrganization();
  const { id, key } = await createKey(apiKey);
  await cutNeon({ when: "after", match: commitOf(id) });
  expectUnavailable(await change(apiKey, id, "rotate"));
  const rotated = await change(apiKey, id, "rotate");
  expect(rotated.status).toBe(200);
  expect((await knock(rotated.body.data.key)).status).toBe(200);
  expect((await knock(key)).status).toBe(401);
});

test("a revocation whose answer was lost is confirmed when it is asked again", async () => {
  const { apiKey, organizationId } = await newOrganization();
  const { id } = await createKey(apiKey);
  await cutNeon({ when: "after", match: commitOf(id) });
  expectUnavailable(await change(apiKey, id, "revoke"));
  expect((await change(apiKey, id, "revoke")).status).toBe(200);
  expect(await auditOf(organizationId, id)).toHaveLength(2);
});

test("a key whose creation never reached the gate can be rotated into use", async () => {
  const { apiKey, organizationId } = await newOrganization();
  const restore = loseTheEnd();
  const json = { name: "lost" };
  expectUnavailable(await request("POST", "/v1/auth/keys", { key: apiKey, json }));
  restore();
  const list = await request("GET", "/v1/auth/keys", { key: apiKey });
  const [lost] = list.body.data;
  expect(lost).toMatchObject({ name: "lost", status: "active" });
  const rotated = await change(apiKey, lost.id, "rotate");
  expect((await knock(rotated.body.data.key)).status).toBe(200);
  expect(await auditOf(organizationId, lost.id)).toHaveLength(2);
});

test("a key whose creation never reached the gate is let in by what Postgres says", async () => {
  const { apiKey } = await newOrganization();
  const created = await createKey(apiKey);
  await runInDurableObject(gateOf(apiKey), (_gate, { storage }) => {
    storage.sql.exec("DELETE FROM keys WHERE id = ?", created.id);
  });
  await evictDurableObject(gateOf(apiKey));
  expect((await knock(created.key)).status).toBe(401);
  await gateOf(apiKey).beginChange(created.id);
  expect((await knock(created.key)).status).toBe(200);
  expect(await marksOf(apiKey)).toBe(0);
});

test("while a change is under way every decision on its key is Postgres's, on others the gate's", async () => {
  const { apiKey, organizationId } = await newOrganization();
  const { id, key } = await createKey(apiKey);
  await gateOf(apiKey).beginChange(id);
  const neonRequests = countNeonRequests();
  expect((await knock(key)).status).toBe(200);
  expect(neonRequests()).toBe(1);
  expect((await knock(apiKey)).status).toBe(200);
  expect(neonRequests()).toBe(1);

  await tenantOf(organizationId).write((q) => [
    q
      .update(apiKeys)
      .set({ status: "revoked", version: 2 })
      .where(and(eq(apiKeys.orgId, organizationId), eq(apiKeys.id, id))),
  ]);
  expect((await knock(key)).status).toBe(401);
  expect(await marksOf(apiKey)).toBe(0);
});

test("with Postgres away, a key under change is refused by 503 and never let in unread", async () => {
  const { apiKey } = await newOrganization();
  const { id, key } = await createKey(apiKey);
  await gateOf(apiKey).beginChange(id);
  await cutNeon({ when: "before", match: [id, "secret_hash"], count: 2 });
  expectUnavailable(await knock(key));
  expect((await knock(apiKey)).status).toBe(200);
  expect((await knock(key)).status).toBe(200);
});

test("a mark whose change never came is dropped after a minute, and the key goes on", async () => {
  const clock = stopTheClock();
  const { apiKey } = await newOrganization();
  const { id, key } = await createKey(apiKey);
  await gateOf(apiKey).beginChange(id);
  clock.advance(60_000);
  expect((await knock(key)).status).toBe(200);
  expect(await marksOf(apiKey)).toBe(1);
  clock.advance(1);
  expect((await knock(key)).status).toBe(200);
  expect(await marksOf(apiKey)).toBe(0);
});

test("a gate that missed a change of its key learns it from the next change", async () => {
  const { apiKey, organizationId } = await newOrganization();
  const { id, key } = await createKey(apiKey);
  await tenantOf(organizationId).write((q) => [
    q
      .update(apiKeys)
      .set({ version: 7 })
      .where(and(eq(apiKeys.orgId, organizationId), eq(apiKeys.id, id))),
  ]);
  expect((await change(apiKey, id, "revoke")).status).toBe(200);
  expect((await knock(key)).body.error.code).toBe("key_revoked");
});

test("a gate that cannot be filled answers 503, and fills when Postgres is back", async () => {
  const { apiKey } = await newOrganization();
  await cutNeon({ when: "before", match: [routingTagOf(apiKey)], count: 2 });
  expectUnavailable(await knock(apiKey));
  expect((await knock(apiKey)).status).toBe(200);
});
