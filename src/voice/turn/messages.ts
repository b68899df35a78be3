import type { ChatMessage } from "../../ports/model.ts";
import type { Entry } from "./state.ts";

/** Why a call ended; the public `endReason`. */
export type EndReason =
  | "hangup"
  | "agent_ended"
  | "end_phrase"
  | "api"
  | "disconnected"
  | "idle"
  | "max_duration"
  | "key_revoked"
  | "voicemail"
  | "announced"
  | "not_joined"
  | "no_answer"
  | "busy"
  | "canceled"
  | "error";

/**
 * What happens to a call. Events about a turn that is over, or that never was, change nothing, so
 * the session need not hold back what arrives late.
 */
export type TurnEvent =
  /** The client is connected and its wishes are known: the greeting may begin. */
  | { type: "joined" }
  /** The socket broke; the same client may come back. */
  | { type: "client_lost" }
  | { type: "rejoined" }
  /** Another socket of the same client replaced the first. */
  | { type: "taken_over" }
  /** The client closed the socket as one hangs up. */
  | { type: "client_closed" }
  /** The first audio of the call arrived. */
  | { type: "audio_received" }
  | { type: "caller_speech_started" }
  /** What the recogniser has understood of the utterance so far. */
  | { type: "caller_partial"; text: string }
  /** The recogniser's end of turn. */
  | { type: "caller_utterance"; text: string }
  /** The recogniser's guess that the turn is over: confirmed by `caller_utterance`, or taken back. */
  | { type: "caller_probably_done"; text: string }
  | { type: "caller_resumed" }
  | { type: "user_text"; text: string }
  /** The client asks the agent to stop. */
  | { type: "interrupt" }
  | { type: "model_delta"; turnId: number; text: string }
  | { type: "model_done"; turnId: number }
  | { type: "model_failed"; turnId: number }
  /**
   * `ms` of a chunk's audio go to the client now: after this, unless it has cancelled the speech.
   * The audio of a chunk is sent after `speech_done` of the one before, even when it is ready
   * earlier.
   */
  | { type: "speech_audio"; turnId: number; chunk: number; ms: number }
  /** All audio of a chunk was sent. */
  | { type: "speech_done"; turnId: number; chunk: number }
  | { type: "speech_failed"; turnId: number; chunk: number }
  /** The client echoed a mark: the audio before it was played. */
  | { type: "mark"; name: string }
  | { type: "end_requested"; reason: EndReason }
  /** The alarm went off. */
  | { type: "tick" };

/** What the session has to do, in this order. */
export type TurnEffect =
  /** Ask the model for a reply; the system prompt goes before `messages`. */
  | { type: "start_model"; turnId: number; messages: ChatMessage[] }
  | { type: "cancel_model"; turnId: number }
  /**
   * Synthesise a chunk; no more than two of a reply are under way. `fallback`: with another
   * provider's voice, the agent's own has failed.
   */
  | { type: "speak"; turnId: number; chunk: number; text: string; fallback?: true }
  /** Stop the synthesis of all its chunks; audio that is ready must not be sent any more. */
  | { type: "cancel_speech"; turnId: number }
  /** Tell the client to drop the audio it has not played. */
  | { type: "send_clear"; turnId: number }
  | { type: "send"; message: TurnMessage }
  /** A line of the transcript is final. Each index comes once, in order. */
  | { type: "record"; entry: Entry }
  /** Send `tick` at this time (ms); replaces the alarm asked for before. */
  | { type: "set_alarm"; at: number }
  /** The call is over; it is always the last effect of a call. */
  | { type: "end"; reason: EndReason };

export type SpeculationUse = "none" | "used" | "discarded";

export type AgentMode = "listening" | "thinking" | "speaking";

/** Messages of the native dialect that come from the turn machine; other dialects translate them. */
export type TurnMessage =
  | { type: "user_transcript"; turn_id: number; text: string; final: boolean }
  /** `delta` while the reply is being written, then once `text`, the whole of it. */
  | { type: "agent_text"; turn_id: number; delta: string; final: false }
  | { type: "agent_text"; turn_id: number; text: string; final: true }
  | { type: "agent_audio_start"; turn_id: number }
  /** No more audio of this reply will be sent; it may still be playing. */
  | { type: "agent_audio_end"; turn_id: number }
  /** Follows the audio of a chunk; the client echoes it when it has played that far. */
  | { type: "mark"; name: string }
  /** Of this reply the caller heard only this; the rest of its text is void. */
  | { type: "interruption"; turn_id: number; heard_text: string; heard_ms: number }
  | { type: "state"; state: AgentMode }
  /**
   * From the caller's end of turn to the reply's first text and to its first audio sent.
   * `speculation`: whether the model was asked before that end was certain, and to any use.
   */
  | {
      type: "metrics";
      turn_id: number;
      first_text_ms: number;
      first_audio_ms: number;
      speculation: SpeculationUse;
    }
  | { type: "error"; code: "speech_failed"; message: string };
