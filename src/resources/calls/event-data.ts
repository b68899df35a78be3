import type { CallRow } from "./view.ts";

/** The `data` of every call event; `callId` is what receivers deduplicate by. */
export function eventData(call: CallRow): Record<string, unknown> {
  return {
    callId: call.id,
    assistantId: call.assistantId,
    type: call.type,
    status: call.status,
    direction: call.direction,
    startedAt: call.startedAt?.toISOString() ?? null,
    endedAt: call.endedAt?.toISOString() ?? null,
    durationSeconds: call.durationSeconds,
    endReason: call.endReason,
  };
}
