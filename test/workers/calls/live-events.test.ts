import { exports } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { finalText, join, newAgent, newCall } from "../../support/worker/call.ts";
import { request } from "../../support/worker/client.ts";

const GREETING = "Hello, this is Ava from Acme. How can I help you today?";

/** The events of a stream by type, as they come; `isOver` once it has ended. */
async function watch(callId: string, key: string) {
  const response = await exports.default.fetch(`http://127.0.0.1/v1/calls/${callId}/events`, {
    headers: { "X-API-Key": key },
  });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const seen: { type: string; data: Record<string, unknown> }[] = [];
  const state = { isOver: false };
  const read = async () => {
    let text = "";
    for await (const chunk of response.body ?? []) {
      text += new TextDecoder().decode(chunk, { stream: true });
      const events = text.split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) {
        const match = /^event: (\w+)\ndata: (.*)$/.exec(event);
        if (match) seen.push({ type: match[1] ?? "", data: JSON.parse(match[2] ?? "null") });
      }
    }
    state.isOver = true;
  };
  void read();
  return { seen, state };
}

test("a live call is seen as it happens, from what was said before to its end", async () => {
  const { key, agentId } = await newAgent();
  const { callId, path } = await newCall(key, agentId);
  const client = await join(path);
  await client.until(finalText(GREETING));
  const { seen, state } = await watch(callId, key);
  client.send({ type: "user_text", text: "Who are you?" });
  const reply = await client.until(
    (m) => m.type === "agent_text" && m["turn_id"] !== 1 && m["final"] === true,
  );
  client.socket.close(1000);
  await vi.waitFor(() => expect(state.isOver).toBe(true));
  expect(seen[0]).toEqual({ type: "transcript", data: { role: "assistant", content: GREETING } });
  expect(seen.find(({ type }) => type === "user_transcript")?.data["text"]).toBe("Who are you?");
  expect(seen.find(({ type }) => type === "agent_text")?.data["text"]).toBe(reply["text"]);
  expect(seen.at(-1)).toEqual({ type: "ended", data: { reason: "hangup" } });
});

test("the events of a call that is over are its transcript and its end", async () => {
  const { key, agentId } = await newAgent();
  const { callId, path } = await newCall(key, agentId);
  const client = await join(path);
  await client.until(finalText(GREETING));
  await request("POST", `/v1/calls/${callId}/end`, { key });
  const { seen, state } = await watch(callId, key);
  await vi.waitFor(() => expect(state.isOver).toBe(true));
  expect(seen).toEqual([
    { type: "transcript", data: { role: "assistant", content: GREETING } },
    { type: "ended", data: { reason: "api" } },
  ]);
});
