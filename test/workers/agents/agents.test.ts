import { expect, test } from "vitest";
import { agentInput } from "../../support/agent-input.ts";
import { newAgent } from "../../support/worker/call.ts";
import { newOrganization, request } from "../../support/worker/client.ts";

async function detailsOf(key: string, id: string) {
  return (await request("GET", `/v1/agents/${id}`, { key })).body.data.details;
}

async function patch(key: string, id: string, fields: object) {
  return request("PATCH", `/v1/agents/${id}`, { key, json: { id, ...fields } });
}

test("a new agent answers both envelopes with its id, and can take a call as it is", async () => {
  const { apiKey: key } = await newOrganization();
  const created = await request("POST", "/v1/agents", { key, json: agentInput });
  const id = created.body.data.id;
  expect(created.status).toBe(201);
  expect(created.body).toEqual({
    success: true,
    status: true,
    message: "Agent created",
    data: { status: true, message: "Agent created", id, details: { id } },
  });
  const details = await detailsOf(key, id);
  expect(details).toMatchObject({
    id,
    name: "Ava",
    language: "English",
    provider: "service_voice_model_1",
    model: null,
    voice_provider: "service_voice_model_1",
    voice: "Amelia",
    hipaa: false,
  });
  expect(details.first_message).toContain("Ava from Acme");
  expect(details.system_prompt).toContain("support");
});

test("all six fields are required, and each that is missing is named", async () => {
  const { apiKey: key } = await newOrganization();
  const answer = await request("POST", "/v1/agents", { key, json: {} });
  expect(answer.status).toBe(400);
  const paths = answer.body.error.issues.map((issue: { path: string }) => issue.path);
  expect(paths.sort()).toEqual(Object.keys(agentInput).sort());
});

test.each([
  ["male", "Oliver"],
  ["FEMALE", "Amelia"],
  ["Theo", "Theo"],
  ["june", "June"],
])("the voice %s is %s", async (voice, name) => {
  const { apiKey: key } = await newOrganization();
  const created = await request("POST", "/v1/agents", { key, json: { ...agentInput, voice } });
  expect((await detailsOf(key, created.body.data.id)).voice).toBe(name);
});

test.each(["robot", "Klingon voice"])("the voice %s is refused", async (voice) => {
  const { apiKey: key } = await newOrganization();
  const answer = await request("POST", "/v1/agents", { key, json: { ...agentInput, voice } });
  expect([answer.status, answer.body.error.issues[0].path]).toEqual([400, "voice"]);
});

test.each([
  "Spanish",
  "hindi",
  "es-MX",
  "en_US",
  "Brazilian Portuguese",
  "Mandarin",
  "Deutsch",
  "日本語",
  "Farsi",
  "zu",
])("the language %s is known and kept as sent", async (language) => {
  const { apiKey: key } = await newOrganization();
  const created = await request("POST", "/v1/agents", { key, json: { ...agentInput, language } });
  expect(created.status).toBe(201);
  expect((await detailsOf(key, created.body.data.id)).language).toBe(language);
});

test.each(["Gibberish", "xx", "12"])("the language %s is refused", async (language) => {
  const { apiKey: key } = await newOrganization();
  const answer = await request("POST", "/v1/agents", { key, json: { ...agentInput, language } });
  expect([answer.status, answer.body.error.issues[0].path]).toEqual([400, "language"]);
});

test("a patch changes what it names and nothing else", async () => {
  const { key, agentId } = await newAgent();
  const before = await detailsOf(key, agentId);
  const fields = { name: "Eva", first_message: "Hi.", hipaa: true, end_call_phrases: ["bye"] };
  expect((await patch(key, agentId, fields)).status).toBe(200);
  expect(await detailsOf(key, agentId)).toEqual({ ...before, ...fields });
});

test("a patch needs the path's id in its body", async () => {
  const { key, agentId } = await newAgent();
  const path = `/v1/agents/${agentId}`;
  for (const json of [{ name: "Eva" }, { id: "agt_other", name: "Eva" }]) {
    const answer = await request("PATCH", path, { key, json });
    expect([answer.status, answer.body.error.issues[0].path]).toEqual([400, "id"]);
  }
});

test("a voice provider's alias as provider also chooses the voice, of the same gender", async () => {
  const { key, agentId } = await newAgent();
  expect((await patch(key, agentId, { provider: "service_voice_model_2" })).status).toBe(200);
  expect(await detailsOf(key, agentId)).toMatchObject({
    provider: "service_voice_model_2",
    model: null,
    voice_provider: "service_voice_model_2",
    voice_model: "service_v1",
    voice: "June",
  });
});

test("a voice asked for by name alone may be another provider's", async () => {
  const { key, agentId } = await newAgent();
  expect((await patch(key, agentId, { voice: "June" })).status).toBe(200);
  expect(await detailsOf(key, agentId)).toMatchObject({
    voice_provider: "service_voice_model_2",
    voice_model: "service_v1",
    voice: "June",
  });
});

test("a model of the voice provider is also the voice's model", async () => {
  const { key, agentId } = await newAgent();
  expect((await patch(key, agentId, { model: "turbo_v2" })).status).toBe(200);
  expect(await detailsOf(key, agentId)).toMatchObject({
    model: "turbo_v2",
    voice_model: "turbo_v2",
    voice: "Amelia",
  });
});

test("a new agent greets in its language", async () => {
  const { apiKey: key } = await newOrganization();
  const json = { ...agentInput, language: "German" };
  const created = await request("POST", "/v1/agents", { key, json });
  const details = await detailsOf(key, created.body.data.id);
  expect(details.first_message).toBe(
    "Hallo, hier ist Ava von Acme. Wie kann ich Ihnen heute helfen?",
  );
});

test("what is patched is what is read, for a reasoning alias too, which leaves the voice alone", async () => {
  const { key, agentId } = await newAgent();
  const before = await detailsOf(key, agentId);
  const fields = { provider: "service_llm_1", model: "service_deep_v1" };
  expect((await patch(key, agentId, fields)).status).toBe(200);
  expect(await detailsOf(key, agentId)).toEqual({ ...before, ...fields });
});

test.each([
  [{ provider: "unknown" }, "provider"],
  [{ provider: "service_voice_model_2", model: "turbo_v2" }, "model"],
  [{ voice_provider: "service_llm_1" }, "voice_provider"],
  [{ voice_model: "service_v1" }, "voice_model"],
  [{ voice: "robot" }, "voice"],
  [{ voice: "June", voice_provider: "service_voice_model_1" }, "voice"],
  [{ system_prompt: "x".repeat(32_001) }, "system_prompt"],
])("a patch of %j is refused at %s", async (fields, path) => {
  const { key, agentId } = await newAgent();
  const answer = await patch(key, agentId, fields);
  expect([answer.status, answer.body.error.issues[0].path]).toEqual([400, path]);
});

test("the catalogue names two providers by alias, their models, and ten languages at least", async () => {
  const { apiKey: key } = await newOrganization();
  const { data } = (await request("GET", "/v1/agents/voices", { key })).body.data;
  expect(data.map(({ provider, models }: Record<string, unknown>) => [provider, models])).toEqual([
    ["service_voice_model_1", ["multilingual_v2", "multilingual_v1", "turbo_v2_5", "turbo_v2"]],
    ["service_voice_model_2", ["service_v1"]],
  ]);
  for (const { languages, voices } of data) {
    expect(languages.length).toBeGreaterThanOrEqual(10);
    const genders = voices.map(({ gender }: { gender: string }) => gender);
    expect(new Set(genders)).toEqual(new Set(["female", "male"]));
  }
});

test("agents are listed newest first, all of them unless asked to page", async () => {
  const { key, agentId } = await newAgent();
  const second = (await request("POST", "/v1/agents", { key, json: agentInput })).body.data.id;
  const all = (await request("GET", "/v1/agents", { key })).body.data;
  expect(all.data.map(({ id }: { id: string }) => id)).toEqual([second, agentId]);
  const page = (await request("GET", "/v1/agents?page=2&pageSize=1", { key })).body.data;
  expect(page.data.map(({ id }: { id: string }) => id)).toEqual([agentId]);
  expect(page.meta).toEqual({ page: 2, pageSize: 1, totalPages: 2, totalCount: 2 });
});
