import { and, eq } from "drizzle-orm";
import { expect, test, vi } from "vitest";
import { outbox } from "../../../src/db/schema/index.ts";
import { finalText, join, newAgent, newCall, scriptModel } from "../../support/worker/call.ts";
import { request, tenantOf, worldUrl } from "../../support/worker/client.ts";
import { deliverTask } from "../../support/worker/queue.ts";

const GREETING = "Hello, this is Ava from Acme. How can I help you today?";

/** A finished call in which the caller said one line; `work` is its analysis in the outbox. */
async function finishedCall(line: string | null) {
  const { key, agentId, organizationId } = await newAgent();
  const { callId, path } = await newCall(key, agentId);
  const client = await join(path);
  await client.until(finalText(GREETING));
  if (line) {
    client.send({ type: "user_text", text: line });
    await client.until((m) => m.type === "agent_text" && m["turn_id"] !== 1 && m["final"] === true);
  }
  client.socket.close(1000);
  const work = await vi.waitFor(async () => {
    const [rows] = await tenantOf(organizationId).read((q) => [
      q
        .select()
        .from(outbox)
        .where(and(eq(outbox.task, "analyze-call"), eq(outbox.subjectId, callId))),
    ]);
    const [row] = rows;
    if (!row) throw new Error("no analysis is due yet");
    return row;
  });
  const read = () => request("GET", `/v1/calls/${callId}/analysis`, { key });
  return { key, callId, organizationId, work, read };
}

test("an analysis that is not made yet is 404 with a time to come back", async () => {
  const { read, work, organizationId } = await finishedCall("Where is my parcel?");
  const early = await read();
  expect(early.status).toBe(404);
  expect(early.body.error.code).toBe("analysis_not_ready");
  expect(early.headers.get("retry-after")).toBe("1");

  expect(await deliverTask(organizationId, work)).toBe(200);
  const { status, body } = await read();
  expect(status).toBe(200);
  expect(body.data.summary.length).toBeGreaterThan(10);
  expect(["positive", "neutral", "negative"]).toContain(body.data.sentiment);
  expect(Array.isArray(body.data.tags)).toBe(true);
});

test("the model's analysis is kept as it answered it", async () => {
  const line = `Refund me, case ${crypto.randomUUID()}`;
  const { read, work, organizationId } = await finishedCall(line);
  const analysis = {
    summary: "Wants a refund.",
    sentiment: "negative",
    tags: ["Refund", "refund"],
  };
  await scriptModel(worldUrl, line, { text: JSON.stringify(analysis) });
  await deliverTask(organizationId, work);
  expect((await read()).body.data).toEqual({ ...analysis, tags: ["refund"] });
});

test("when the model fails, or answers nonsense, the analysis is made without it", async () => {
  for (const reply of [{ status: 500 }, { text: "I would rather not." }]) {
    const line = `I love this, thank you so much! My parcel ${crypto.randomUUID()} is here.`;
    const { read, work, organizationId } = await finishedCall(line);
    await scriptModel(worldUrl, line, reply);
    await deliverTask(organizationId, work);
    const { data } = (await read()).body;
    expect(data.sentiment).toBe("positive");
    expect(data.tags).toContain("delivery");
    expect(data.summary).toContain("Caller:");
  }
});

test("a call in which nobody spoke has an analysis that says so", async () => {
  const { read, work, organizationId } = await finishedCall(null);
  await deliverTask(organizationId, work);
  expect((await read()).body.data).toEqual({
    summary: "The caller said nothing.",
    sentiment: "neutral",
    tags: [],
  });
});

test("the same message fifty times makes one analysis", async () => {
  const { read, work, organizationId } = await finishedCall("Hello there.");
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => deliverTask(organizationId, work)),
  );
  expect(new Set(answers)).toEqual(new Set([200]));
  expect((await read()).status).toBe(200);
});
