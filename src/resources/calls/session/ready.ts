import { DEFAULT_AUDIO } from "../../../voice/dialects/native.ts";
import type { Stored } from "./store.ts";

/** The server's first message, and its answer to a `start` that changes formats. */
export function readyMessage({ preparation, format }: Readonly<Stored>) {
  return {
    type: "ready",
    call_id: preparation?.callId,
    audio: format ?? DEFAULT_AUDIO,
    agent: { id: preparation?.agent.id, name: preparation?.agent.name },
  };
}
