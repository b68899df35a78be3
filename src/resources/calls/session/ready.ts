import type { AudioFormat } from "../../../voice/audio/format.ts";
import type { ServerMessage } from "../../../voice/dialects/dialect.ts";
import type { Preparation } from "../session-types.ts";

/** The server's first message, and its answer to a `start` that changes formats. */
export function readyMessage({ callId, agent }: Preparation, audio: AudioFormat): ServerMessage {
  return { type: "ready", call_id: callId, audio, agent: { id: agent.id, name: agent.name } };
}

export const lateStart = {
  type: "error",
  code: "late_start",
  message: "start must come first, within 300 ms; the formats stay as they are",
} as const;
