import { expect, test } from "vitest";
import { newOrganization } from "../../support/worker/client.ts";
import { goodBody } from "./bodies.ts";
import {
  endpoints,
  expectDocumented,
  fetchService,
  send,
  type Tested,
  UNKNOWN_ID,
} from "./endpoints.ts";
import { type Owner, ownerOfEverything } from "./things.ts";

const withId = endpoints.filter((endpoint) => endpoint.takesId);

/** No number can be bought yet, so there is none to call from. */
const withoutGoodAnswer = ["POST /v1/calls/phone/initiate"];
const answering = endpoints.filter(({ name }) => !withoutGoodAnswer.includes(name));

test.each(answering)("$name answers a good request as documented", async (endpoint) => {
  const answer = await succeed(endpoint, await ownerOfEverything());
  expect(Object.keys(endpoint.operation.responses)).toContain(String(answer.status));
});

test("every endpoint answers another organization's ids exactly like an unknown one, and does nothing", async () => {
  const owner = await ownerOfEverything();
  const before = await everythingOf(owner);
  for (const endpoint of withId) {
    const { apiKey } = await newOrganization();
    const ids = [UNKNOWN_ID, ...Object.values(owner.things)];
    const answers = ids.map(async (id) => {
      const answer = await send(endpoint, { key: apiKey, id, json: goodBody(endpoint, { id }) });
      expectDocumented(endpoint, answer);
      return withoutRequestId(answer);
    });
    const [unknown, ...foreign] = await Promise.all(answers);
    expect([endpoint.name, unknown?.status]).toEqual([endpoint.name, 404]);
    for (const answer of foreign) expect(answer).toEqual(unknown);
  }
  expect(await everythingOf(owner)).toEqual(before);
});

test("an agent of another organization takes no calls for this one", async () => {
  const [{ apiKey }, owner] = await Promise.all([newOrganization(), ownerOfEverything()]);
  const answers = ["agt_unknown", owner.things.agent].map(async (assistantId) => {
    const json = { assistantId, type: "web" };
    return withoutRequestId(
      await fetchService("POST", "/v1/calls/initiate", { key: apiKey, json }),
    );
  });
  const [unknown, foreign] = await Promise.all(answers);
  expect(unknown?.status).toBe(404);
  expect(foreign).toEqual(unknown);
});

/** The good answer to a good request: with an id, to the one thing that has this endpoint. */
async function succeed(endpoint: Tested, { apiKey, things }: Owner) {
  const ids = endpoint.takesId ? Object.values(things) : [UNKNOWN_ID];
  for (const id of ids) {
    const json = goodBody(endpoint, { things, id });
    const answer = await send(endpoint, { key: apiKey, id, json });
    expectDocumented(endpoint, answer);
    if (answer.status < 300) return answer;
  }
  throw new Error(`${endpoint.name} has no good answer to any of ${ids.join(", ")}`);
}

/** All that an organization can read about what it owns; by a new key, which has its minute before it. */
async function everythingOf({ apiKey, things }: Owner) {
  const { body } = await fetchService("POST", "/v1/auth/keys", { key: apiKey, json: {} });
  const { key } = body.data;
  const reads = withId.filter(({ method }) => method === "GET");
  const answers = reads.flatMap((endpoint) =>
    Object.values(things).map((id) => send(endpoint, { key, id })),
  );
  return (await Promise.all(answers))
    .filter(({ status }) => status === 200)
    .map(({ body }) => body);
}

function withoutRequestId({ status, body }: Awaited<ReturnType<typeof send>>) {
  const { requestId: _, ...error } = body.error;
  return { status, body: { ...body, error } };
}
