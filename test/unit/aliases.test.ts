import { expect, test } from "vitest";
import { catalogueOf } from "../../src/adapters/aliases.ts";
import type { Model } from "../../src/ports/model.ts";
import type { Speaker } from "../../src/ports/speaker.ts";

const speaker = (): Speaker => ({ speak: () => (async function* () {})() });
const model: Model = {
  stream: () => (async function* () {})(),
  answer: () => Promise.resolve({}),
};
const parts = {
  elevenLabs: speaker(),
  openAi: speaker(),
  workersAi: undefined,
  model,
  reasoning: "openai",
  defaultModel: undefined,
} as const;

const swift = { provider: "service_voice_model_3", model: "swift_v1", voiceId: "ruby" };

test("voices of the platform are offered where the deployment has them", () => {
  expect(catalogueOf(parts).speaker(swift)).toBeNull();
  const workersAi = speaker();
  const catalogue = catalogueOf({ ...parts, workersAi });
  expect(catalogue.voiceProviders).toHaveLength(3);
  expect(catalogue.speaker(swift)?.speaker).toBe(workersAi);
});

test("a reasoning alias stands for a model of whoever thinks", () => {
  const deep = { provider: "service_llm_1", model: "service_deep_v1" };
  expect(catalogueOf(parts).model(deep).name).toBe("gpt-4o");
  const platform = catalogueOf({ ...parts, reasoning: "workers-ai" });
  expect(platform.model(deep).name).toMatch(/^@cf\//);
});

test("whoever names no model gets the default, which is the fast one unless it is set", () => {
  const none = { provider: "service_voice_model_1", model: null };
  expect(catalogueOf(parts).model(none).name).toBe("gpt-4o-mini");
  expect(catalogueOf({ ...parts, defaultModel: "mine" }).model(none).name).toBe("mine");
});
