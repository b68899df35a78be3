import { expect, test } from "vitest";
import { type Answer, newOrganization, request } from "../../support/worker/client.ts";
import {
  auditOf,
  change,
  createKey,
  gateOf,
  knock,
  replaceScopes,
  stopTheClock,
} from "./support.ts";

type Try = { startedAfterTheAnswer: boolean; status: number };

/**
 * 200 requests with a key, a few at a time, and its end among them; when each of them began. The
 * keys of two organizations' windows would be in the way, so the clock walks through them.
 */
async function race(key: string, end: () => Promise<Answer>): Promise<Try[]> {
  const clock = stopTheClock();
  const tries: Try[] = [];
  let answered = false;
  let started = 0;
  const client = async () => {
    while (started < 200) {
      started += 1;
      if (started % 40 === 0) clock.advance(60_000);
      const attempt = { startedAfterTheAnswer: answered, status: 0 };
      tries.push(attempt);
      attempt.status = (await knock(key)).status;
    }
  };
  const clients = Array.from({ length: 16 }, client);
  const ended = await end();
  answered = true;
  expect(ended.status).toBe(200);
  await Promise.all(clients);
  return tries;
}

test.each(["revoke", "rotate"])(
  "of 200 requests racing a %s, none that starts after the answer passes",
  async (what) => {
    const { apiKey } = await newOrganization();
    const { id, key } = await createKey(apiKey);
    const tries = await race(key, () => change(apiKey, id, what));
    expect(tries).toHaveLength(200);
    const before = tries.filter((one) => !one.startedAfterTheAnswer);
    const after = tries.filter((one) => one.startedAfterTheAnswer);
    expect(before.map(({ status }) => status)).toContain(200);
    expect(new Set(after.map(({ status }) => status))).toEqual(new Set([401]));
  },
);

test("of requests racing a removal of their scope, none that starts after the answer passes", async () => {
  const { apiKey } = await newOrganization();
  const { id, key } = await createKey(apiKey);
  const tries = await race(key, () => replaceScopes(apiKey, id, []));
  const after = tries.filter((one) => one.startedAfterTheAnswer);
  expect(new Set(after.map(({ status }) => status))).toEqual(new Set([403]));
});

test("of two rotations at once both secrets were issued, and only the last one lives", async () => {
  const { apiKey, organizationId } = await newOrganization();
  const { id, key } = await createKey(apiKey);
  const answers = await Promise.all([change(apiKey, id, "rotate"), change(apiKey, id, "rotate")]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);

  const audit = await auditOf(organizationId, id);
  expect(audit.map(({ action }) => action)).toEqual(["created", "rotated", "rotated"]);
  const [, , second] = audit;
  for (const { body } of answers) {
    const isLast = body.data.key.endsWith(second?.details["after"]);
    expect((await knock(body.data.key)).status).toBe(isLast ? 200 : 401);
  }
  expect((await knock(key)).status).toBe(401);
});

test("a rotation at the same time as a revocation never brings the key back", async () => {
  const { apiKey, organizationId } = await newOrganization();
  for (let round = 0; round < 5; round++) {
    const { id, key } = await createKey(apiKey);
    const [rotated, revoked] = await Promise.all([
      change(apiKey, id, "rotate"),
      change(apiKey, id, "revoke"),
    ]);
    expect(revoked.status).toBe(200);
    expect([200, 400]).toContain(rotated.status);
    expect((await knock(key)).status).toBe(401);
    if (rotated.status === 200) expect((await knock(rotated.body.data.key)).status).toBe(401);
    expect((await auditOf(organizationId, id)).map(({ action }) => action)).toEqual(
      rotated.status === 200 ? ["created", "rotated", "revoked"] : ["created", "revoked"],
    );
  }
});

test("scopes replaced while the key is revoked never bring it back", async () => {
  const { apiKey, organizationId } = await newOrganization();
  for (let round = 0; round < 5; round++) {
    const { id, key } = await createKey(apiKey, { scopes: ["calls:read"] });
    const [replaced, revoked] = await Promise.all([
      replaceScopes(apiKey, id, ["keys:read"]),
      change(apiKey, id, "revoke"),
    ]);
    expect(revoked.status).toBe(200);
    const refused = await knock(key);
    expect([refused.status, refused.body.error.code]).toEqual([401, "key_revoked"]);
    expect((await auditOf(organizationId, id)).map(({ action }) => action)).toEqual(
      replaced.status === 200 ? ["created", "scopes_replaced", "revoked"] : ["created", "revoked"],
    );
  }
});

test("of scopes replaced at once, the last committed ones hold everywhere", async () => {
  const { apiKey, organizationId } = await newOrganization();
  const { id, key } = await createKey(apiKey);
  const wanted = [["keys:read"], []];
  const answers = await Promise.all(wanted.map((scopes) => replaceScopes(apiKey, id, scopes)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  const audit = await auditOf(organizationId, id);
  expect(audit).toHaveLength(3);
  const last = audit[2]?.details["to"] as string[];
  expect((await knock(key)).status).toBe(last.length > 0 ? 200 : 403);
  const list = await request("GET", "/v1/auth/keys", { key: apiKey });
  expect(list.body.data).toContainEqual(expect.objectContaining({ id, scopes: last }));
});

test("a state that arrives late at the gate never undoes a newer one, nor a revocation", async () => {
  const { apiKey } = await newOrganization();
  const { id, key } = await createKey(apiKey);
  const gate = gateOf(apiKey);
  const { token } = await gate.beginChange(id);
  const state = { id, hash: "0".repeat(64), scopes: [], expiresAt: null, allowedIps: null };
  await gate.finishChange(token, { ...state, status: "active", version: 1 });
  expect((await knock(key)).status).toBe(200);
  await change(apiKey, id, "revoke");
  await gate.finishChange(token, { ...state, status: "active", version: 9 });
  expect((await knock(key)).body.error.code).toBe("key_revoked");
});
