import { expect, test } from "vitest";
import { endingOf } from "../../../src/resources/calls/session/final-write.ts";

const entries = [{ role: "user" as const, content: "My diagnosis is private." }];

function eventOf(hipaa: boolean) {
  const agent = {
    id: "agt_1",
    name: "Ava",
    language: "en",
    firstMessage: "Hello",
    systemPrompt: "Secret prompt",
    provider: "p",
    model: null,
    voiceProvider: "v",
    voiceModel: "m",
    voiceId: "i",
    hipaa,
    endCallPhrases: [],
  };
  const call = {
    organizationId: "org_1",
    callId: "call_1",
    keyId: "key_1",
    agent,
    createdAt: 0,
    joinBy: 1,
  };
  return endingOf(call, { reason: "hangup", startedAt: 1_000, endedAt: 5_000, entries }).event;
}

test("the event of a completed call carries its transcript, and in HIPAA mode nothing that was said", () => {
  expect(eventOf(false).data["transcript"]).toEqual(entries);
  const event = eventOf(true);
  expect(event.data).not.toHaveProperty("transcript");
  expect(JSON.stringify(event)).not.toMatch(/diagnosis|prompt/i);
});
