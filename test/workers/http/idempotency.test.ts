import { eq, sql } from "drizzle-orm";
import { describe, expect, test, vi } from "vitest";
import { agents, idempotencyKeys } from "../../../src/db/schema/index.ts";
import { agentInput } from "../../support/agent-input.ts";
import { newOrganization, request, tenantOf, worldUrl } from "../../support/worker/client.ts";
import { goodBody } from "../contract/bodies.ts";
import { endpoints, expectDocumented, expectRefusal, send } from "../contract/endpoints.ts";
import { ownerOfEverything } from "../contract/things.ts";
import { createKey, cutNeon } from "../keys/support.ts";

/** As they stand in the JSON that the database is sent. */
const INSERT_AGENT = 'insert into \\"agents\\"';
const FORGET_CLAIM = 'delete from \\"idempotency_keys\\"';

async function customer() {
  const { apiKey, organizationId } = await newOrganization();
  const db = tenantOf(organizationId);
  return {
    apiKey,
    db,
    organizationId,
    create: (key: string, json: object = agentInput, by = apiKey) =>
      request("POST", "/v1/agents", { key: by, json, headers: { "Idempotency-Key": key } }),
    agentCount: async () => {
      const [rows] = await db.read((q) => [q.select({ id: agents.id }).from(agents)]);
      return rows.length;
    },
    claims: async () => {
      const [rows] = await db.read((q) => [q.select().from(idempotencyKeys)]);
      return rows;
    },
    /** As if the Worker that has the claim had died a minute ago. */
    expireClaims: () =>
      db.write((q) => [
        q
          .update(idempotencyKeys)
          .set({ leaseUntil: sql`now() - interval '1 second'` })
          .where(eq(idempotencyKeys.orgId, organizationId)),
      ]),
  };
}

type Answer = Awaited<ReturnType<typeof request>>;
const isReplay = ({ headers }: Answer) => headers.get("idempotent-replayed") === "true";

describe.each(endpoints.filter(({ method }) => method === "POST"))("$name", (endpoint) => {
  test("sent again with the same key, answers the same and without secrets", async () => {
    const { apiKey, things } = await ownerOfEverything();
    for (const id of endpoint.takesId ? Object.values(things) : [""]) {
      const json = goodBody(endpoint, { things, id });
      const headers = { "Idempotency-Key": `key-${id}` };
      const first = await send(endpoint, { key: apiKey, id, json, headers });
      const second = await send(endpoint, { key: apiKey, id, json, headers });
      expectDocumented(endpoint, second);
      expect([second.status, isReplay(first), isReplay(second)]).toEqual([
        first.status,
        false,
        first.status < 300,
      ]);
      expect(JSON.stringify(second.body)).not.toMatch(/sk_live_|whsec_/);
      if (first.status < 300)
        expect(withoutSecrets(second.body)).toEqual(withoutSecrets(first.body));
    }
  });
});

const withoutSecrets = (body: { data?: object }) =>
  body.data ? { ...body, data: { ...body.data, key: null, webhookSecret: null } } : body;

test("twenty equal requests in parallel make one agentInput", async () => {
  const { create, agentCount } = await customer();
  const answers = await Promise.all(Array.from({ length: 20 }, () => create("one")));
  expect(await agentCount()).toBe(1);
  const made = answers.filter((answer) => answer.status === 201);
  expect(new Set(made.map(({ body }) => body.data.id)).size).toBe(1);
  expect(made.filter((answer) => !isReplay(answer))).toHaveLength(1);
  for (const answer of answers.filter(({ status }) => status !== 201)) {
    expectRefusal(answer, 409, "idempotency_in_flight");
    expect(answer.headers.get("retry-after")).toBe("1");
  }
  expect(isReplay(await create("one"))).toBe(true);
});

test("the same key with another body, or another query, is 422", async () => {
  const { create, agentCount, apiKey } = await customer();
  await create("one");
  expectRefusal(await create("one", { ...agentInput, name: "Bea" }), 422, "idempotency_mismatch");
  const headers = { "Idempotency-Key": "one" };
  const query = await request("POST", "/v1/agents?a=b", { key: apiKey, json: agentInput, headers });
  expectRefusal(query, 422, "idempotency_mismatch");
  expect(await agentCount()).toBe(1);
});

test("a key belongs to one API key and one path", async () => {
  const { create, agentCount, apiKey } = await customer();
  const other = await createKey(apiKey);
  const headers = { "Idempotency-Key": "one" };
  const answers = [
    await create("one"),
    await create("one", agentInput, other.key),
    await request("POST", "/v1/auth/keys", { key: apiKey, json: {}, headers }),
  ];
  expect(answers.map((answer) => [answer.status, isReplay(answer)])).toEqual(
    Array(3).fill([201, false]),
  );
  expect(await agentCount()).toBe(2);
});

test("what was refused may be corrected and sent again with the same key", async () => {
  const { create, claims, apiKey } = await customer();
  expect((await create("one", {})).status).toBe(400);
  expect((await create("one", { ...agentInput, language: "Klingonese" })).status).toBe(400);
  const headers = { "Idempotency-Key": "two" };
  const nobody = { key: apiKey, headers };
  expect((await request("POST", "/v1/auth/keys/key_x/revoke", nobody)).status).toBe(404);
  expect(await claims()).toEqual([]);
  expect((await create("one")).status).toBe(201);
});

test("a key that lost its scope gets no replay", async () => {
  const { create, apiKey } = await customer();
  const writer = await createKey(apiKey, { scopes: ["agents:write"] });
  await create("one", agentInput, writer.key);
  await request("PATCH", `/v1/auth/keys/${writer.id}/scopes`, {
    key: apiKey,
    json: { scopes: [] },
  });
  expectRefusal(await create("one", agentInput, writer.key), 403, "missing_scope");
});

test("while the first request runs, or its minute is not over, the second is 409", async () => {
  const { create, agentCount, expireClaims, organizationId } = await customer();
  // The effect never happened, and the claim stands: its Worker died, as it were.
  await cutNeon({ when: "before", match: [INSERT_AGENT, organizationId] });
  await cutNeon({ when: "before", match: [FORGET_CLAIM, organizationId] });
  expect((await create("one")).status).toBe(503);
  expectRefusal(await create("one"), 409, "idempotency_in_flight");
  await expireClaims();
  expect((await create("one")).status).toBe(201);
  expect(await agentCount()).toBe(1);
});

test("when the effect did not happen, the same key may try again at once", async () => {
  const { create, agentCount, organizationId } = await customer();
  await cutNeon({ when: "before", match: [INSERT_AGENT, organizationId] });
  expect((await create("one")).status).toBe(503);
  expect((await create("one")).status).toBe(201);
  expect(await agentCount()).toBe(1);
});

test("when the effect happened and its answer was lost, it does not happen again", async () => {
  const { create, agentCount, organizationId } = await customer();
  await cutNeon({ when: "after", match: [INSERT_AGENT, organizationId] });
  expect((await create("one")).status).toBe(503);
  for (let again = 0; again < 2; again++) {
    await vi.waitFor(async () =>
      expectRefusal(await create("one"), 409, "idempotency_outcome_lost"),
    );
  }
  expect(await agentCount()).toBe(1);
});

test("a request slower than its claim gives way to the one that took it over", async () => {
  const { create, agentCount, claims, expireClaims, organizationId } = await customer();
  const fault = {
    target: "neon",
    mode: "delay",
    ms: 1_500,
    count: 1,
    match: [INSERT_AGENT, "Slowpoke", organizationId],
  };
  await fetch(`${worldUrl}/faults`, { method: "POST", body: JSON.stringify(fault) });
  const json = { ...agentInput, name: "Slowpoke" };
  const slow = create("one", json);
  await vi.waitFor(async () => expect(await claims()).toHaveLength(1));
  await expireClaims();
  const fast = await create("one", json);
  expect(fast.status).toBe(201);
  expectRefusal(await slow, 409, "idempotency_in_flight");
  expect(await agentCount()).toBe(1);
  expect((await create("one", json)).body).toEqual(fast.body);
});

test("no secret is stored", async () => {
  const { apiKey, claims } = await customer();
  const headers = { "Idempotency-Key": "one" };
  const sent = { key: apiKey, json: {}, headers };
  const first = await request("POST", "/v1/auth/keys", sent);
  expect(first.body.data.key).toMatch(/^sk_live_/);
  const second = await request("POST", "/v1/auth/keys", sent);
  expect(second.body.data).toEqual({ ...first.body.data, key: null, webhookSecret: null });
  expect(JSON.stringify(await claims())).not.toMatch(/sk_live_|whsec_/);
});

test("after a day a key is new", async () => {
  const { create, db, organizationId, agentCount } = await customer();
  await create("one");
  await db.write((q) => [
    q
      .update(idempotencyKeys)
      .set({ createdAt: sql`now() - interval '25 hours'` })
      .where(eq(idempotencyKeys.orgId, organizationId)),
  ]);
  const second = await create("one", { ...agentInput, name: "Bea" });
  expect([second.status, isReplay(second), await agentCount()]).toEqual([201, false, 2]);
});

test("a key has 1 to 255 characters, and means nothing to a request that only reads", async () => {
  const { create, apiKey } = await customer();
  expect((await create("x".repeat(255))).status).toBe(201);
  for (const key of ["", "x".repeat(256)]) {
    expectRefusal(await create(key), 400, "validation_failed");
  }
  const headers = { "Idempotency-Key": "x".repeat(300) };
  expect((await request("GET", "/v1/agents", { key: apiKey, headers })).status).toBe(200);
});
