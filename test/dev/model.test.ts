import { expect, test } from "vitest";
import * as z from "zod";
import { modelStandIn } from "../../dev/model.ts";
import { onLoopback } from "./on-loopback.ts";

const authorization = "Bearer key";
const user = (content: string) => ({ role: "user", content });

function ask(url: string, body: Record<string, unknown>, headers: HeadersInit = { authorization }) {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers,
    body: JSON.stringify({ model: "gpt-4o-mini", ...body }),
  });
}

test("a stream is a role, the words, the finish, the usage when asked for, and [DONE]", async () => {
  await using model = await onLoopback(modelStandIn);
  const response = await ask(model.url, {
    messages: [user("I lost my parcel")],
    stream: true,
    stream_options: { include_usage: true },
  });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const events = (await response.text()).trimEnd().split("\n\n");
  expect(events.every((event) => event.startsWith("data: "))).toBe(true);
  expect(events.pop()).toBe("data: [DONE]");
  const chunks = events.map((event) => JSON.parse(event.slice(6)));
  expect(chunks[0].choices[0].delta).toEqual({ role: "assistant", content: "" });
  expect(chunks.at(-2).choices[0]).toEqual({ index: 0, delta: {}, finish_reason: "stop" });
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 4 } });
  const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");
  expect(text).toBe("You said: I lost my parcel. How would you like me to help with that?");
  expect(model.received()[0]).toMatchObject({
    kind: "model",
    messages: [user("I lost my parcel")],
  });
});

test.each([
  ["Hello!", "Hello! How can I help you today?"],
  ["That's all, bye", "Thank you for calling. Goodbye!"],
  [
    "hello I need a taxi",
    "You said: hello I need a taxi. How would you like me to help with that?",
  ],
])("%s is answered sensibly without streaming", async (said, reply) => {
  await using model = await onLoopback(modelStandIn);
  const response = await ask(model.url, { messages: [user(said)] });
  expect(await response.json()).toMatchObject({
    object: "chat.completion",
    choices: [{ message: { role: "assistant", content: reply }, finish_reason: "stop" }],
  });
});

const analysis = z.strictObject({
  summary: z.string(),
  sentiment: z.enum(["positive", "neutral", "negative"]),
  tags: z.array(z.string()).min(1),
});
const anything = z.strictObject({
  id: z.uuid(),
  when: z.iso.datetime(),
  count: z.int().min(3),
  nothing: z.null(),
  either: z.union([z.string(), z.number()]),
  rows: z.array(z.strictObject({ kind: z.literal("row"), ok: z.boolean() })).min(2),
  tags: z.number(),
});

test.each([
  ["the analysis of a call", analysis],
  ["any other schema", anything],
])("a structured answer follows %s", async (_, schema) => {
  await using model = await onLoopback(modelStandIn);
  const transcript =
    "user: My parcel is late and broken, I want a refund\nassistant: Great, thanks!";
  const response = await ask(model.url, {
    messages: [{ role: "system", content: "Analyse the call." }, user(transcript)],
    response_format: {
      type: "json_schema",
      json_schema: { name: "answer", strict: true, schema: z.toJSONSchema(schema) },
    },
  });
  const reply = z.object({
    choices: z.tuple([z.object({ message: z.object({ content: z.string() }) })]),
  });
  const answer = JSON.parse(reply.parse(await response.json()).choices[0].message.content);
  expect(() => schema.parse(answer)).not.toThrow();
  if (schema === analysis) {
    expect(answer).toEqual({
      summary:
        'The caller spoke about refund, delivery, support. They began with: "My parcel is late and broken, I want a refund"',
      sentiment: "negative",
      tags: ["refund", "delivery", "support"],
    });
  }
});

test("scripted replies serve one request each, in order, and only what they match", async () => {
  await using model = await onLoopback(modelStandIn);
  const replies = [{ match: "weather", text: "Rain." }, { text: "First." }, { status: 503 }];
  const scripted = await fetch(`${model.url}/script`, {
    method: "POST",
    body: JSON.stringify({ replies }),
  });
  expect(await scripted.json()).toEqual({ queued: 3 });
  const say = async (text: string) => {
    const response = await ask(model.url, { messages: [user(text)] });
    const body = z.object({ choices: z.array(z.unknown()).optional() }).loose();
    return response.ok ? body.parse(await response.json()).choices?.[0] : response.status;
  };
  expect(await say("one")).toMatchObject({ message: { content: "First." } });
  expect(await say("two")).toBe(503);
  expect(await say("the weather?")).toMatchObject({ message: { content: "Rain." } });
  expect(await say("hi")).toMatchObject({
    message: { content: "Hello! How can I help you today?" },
  });
});

test("a stream told to break ends after so many words, without its end", async () => {
  await using model = await onLoopback(modelStandIn);
  model.standIn.script.add([{ text: "one two three four", breakAfterTokens: 2 }]);
  const response = await ask(model.url, { messages: [user("go")], stream: true });
  let received = "";
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) received += decoder.decode(bytes);
  })();
  await expect(reading).rejects.toThrow();
  expect(received).toContain('"content":" two"');
  expect(received).not.toContain("three");
});

test("without a key there is no answer", async () => {
  await using model = await onLoopback(modelStandIn);
  const response = await ask(model.url, { messages: [user("hi")] }, {});
  expect(response.status).toBe(401);
  expect(await response.json()).toMatchObject({ error: { code: "invalid_api_key" } });
  expect((await fetch(`${model.url}/v1/models`, { headers: { authorization } })).status).toBe(200);
});
