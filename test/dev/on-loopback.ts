import type { Recorder, StandIn } from "../../dev/stand-in.ts";
import { createRecorder } from "../../dev/world/recorder.ts";
import { startWorld } from "../../dev/world.ts";

/** A world of one stand-in, with its base URL and what it recorded. */
export async function onLoopback<T extends StandIn>(create: (parts: { record: Recorder }) => T) {
  const recorder = createRecorder(1000);
  const standIn = create({ record: recorder.record });
  const world = await startWorld({ standIns: [standIn], recorder, advanceClock: () => undefined });
  return {
    standIn,
    received: () => recorder.list(),
    url: `${world.url}/${standIn.name}`,
    [Symbol.asyncDispose]: () => world.close(),
  };
}
