import { expect, test } from "vitest";
import type { WorkersAi } from "../../../src/adapters/workers-ai/binding.ts";
import { workersAiModel } from "../../../src/adapters/workers-ai/model.ts";
import { codeOf, collect } from "./world.ts";

/** A model on Workers AI that answers with `body`: they differ in the form. */
function answering(body: string) {
  const ai: WorkersAi = { run: () => Promise.resolve(new Response(body)) };
  return workersAiModel({ ai, firstTokenTimeoutMs: 1000 });
}

const { signal } = new AbortController();
const request = { model: "@cf/vendor/model", messages: [], signal };
const structured = { ...request, schemaName: "analysis", schema: {} };
const events = (...data: unknown[]) =>
  data.map((each) => `data: ${JSON.stringify(each)}\n\n`).join("");
const done = "data: [DONE]\n\n";

test.each([
  ["text", [{ response: "Hello" }, { response: " there" }], "Hello there"],
  ["a token that is a number", [{ response: 4 }, { response: "2" }, { response: 0 }], "420"],
  ["OpenAI's form", [{ choices: [{ delta: { content: "Hello" } }] }, { choices: [] }], "Hello"],
  ["both forms", [{ response: "Hi", choices: [{ delta: { content: "Hi" } }] }], "Hi"],
])("%s is streamed as it was said, once", async (_, chunks, text) => {
  const reply = answering(events(...chunks, { response: "", usage: {} }) + done);
  expect((await collect(reply.stream(request))).join("")).toBe(text);
});

test.each([
  ["an object", { response: { mood: "good" } }],
  ["text", { response: '{"mood":"good"}' }],
  ["OpenAI's form", { choices: [{ message: { content: '{"mood":"good"}' } }] }],
])("a structured answer as %s is parsed", async (_, body) => {
  expect(await answering(JSON.stringify(body)).answer(structured)).toEqual({ mood: "good" });
});

test("an error in the middle of a stream, or no end, is unavailable", async () => {
  const broken = answering(events({ response: "Hel" }, { errors: [{ code: 3040 }] }) + done);
  expect(await codeOf(collect(broken.stream(request)))).toBe("unavailable");
  expect(await codeOf(collect(answering(events({ response: "H" })).stream(request)))).toBe(
    "unavailable",
  );
});

test("an answer with nothing in it is garbled", async () => {
  expect(await codeOf(answering("{}").answer(structured))).toBe("garbled");
});
