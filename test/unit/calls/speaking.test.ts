import { expect, test, vi } from "vitest";
import { openSpeaking, type Synthesis } from "../../../src/resources/calls/session/speaking.ts";

const format = { encoding: "pcm16", sampleRate: 16_000 } as const;

test("the next chunk is synthesised while the one before it is still being sent", async () => {
  const begun: string[] = [];
  const synthesise: Synthesis = async function* (text) {
    begun.push(text);
    yield new Int16Array(1_600);
  };
  let ahead = 5_000;
  const speaking = openSpeaking({
    turnId: 1,
    format,
    send: () => undefined,
    aheadMs: () => ahead,
    onEvent: () => undefined,
  });
  speaking.say(0, "first", synthesise);
  speaking.say(1, "second", synthesise);
  await vi.waitFor(() => expect(begun).toEqual(["first", "second"]));
  ahead = 0;
  speaking.cancel();
});
