import type { TurnConfig } from "../../../voice/turn.ts";
import type { Wiring } from "../../../wiring.ts";
import type { SessionAgent } from "../session-types.ts";

/** `isSpoken`: the agent uses its voice from the beginning. */
export function turnConfig(
  agent: SessionAgent,
  settings: Wiring["settings"],
  isSpoken: boolean,
): TurnConfig {
  return {
    greeting: agent.firstMessage || null,
    language: agent.language,
    speculates: settings.CALL_SPECULATION,
    endCallPhrases: agent.endCallPhrases,
    idleMs: settings.CALL_IDLE_SECONDS * 1_000,
    maxMs: settings.CALL_MAX_SECONDS * 1_000,
    textOnlyUntilAudio: !isSpoken,
  };
}
