import type { Catalogue } from "../../../ports/catalogue.ts";
import type { Transcriber, TranscriberEvent } from "../../../ports/transcriber.ts";
import type { AudioFormat } from "../../../voice/audio/format.ts";
import type { TurnEffect, TurnEvent } from "../../../voice/turn.ts";
import type { SessionAgent } from "../session-types.ts";
import { type Hearing, openHearing } from "./hearing.ts";
import { openSpeaking, type Speaking } from "./speaking.ts";
import { openThinking, type Thinking } from "./thinking.ts";
import { synthesisOf } from "./voices.ts";

/**
 * The running streams of a call: recogniser, model and voice. It does what the turn machine asks
 * and reports what happens as events. Nothing of it survives eviction; `resume` asks again.
 */
export type Engine = {
  perform(effect: Extract<TurnEffect, { type: EngineEffect }>): void;
  hear(frame: ArrayBuffer): void;
  stop(): void;
};

type EngineEffect = "start_model" | "cancel_model" | "speak" | "cancel_speech";

export function isEngineEffect(
  effect: TurnEffect,
): effect is Extract<TurnEffect, { type: EngineEffect }> {
  return ["start_model", "cancel_model", "speak", "cancel_speech"].includes(effect.type);
}

export function openEngine(options: {
  agent: SessionAgent;
  format: AudioFormat;
  /** What the client sends, when that differs. */
  inputFormat: AudioFormat | null;
  catalogue: Catalogue;
  transcriber: Transcriber;
  sendAudio(audio: Uint8Array<ArrayBuffer>): void;
  /** How much of the audio sent the caller has yet to hear. */
  aheadMs(): number;
  onEvent(event: TurnEvent): void;
}): Engine {
  const { agent, catalogue, format, onEvent } = options;
  let thinking: Thinking | null = null;
  let speaking: (Speaking & { turnId: number }) | null = null;
  let hearing: Hearing | null = null;

  function speakingOf(turnId: number): Speaking {
    if (speaking?.turnId === turnId) return speaking;
    const { sendAudio: send, aheadMs } = options;
    speaking = { turnId, ...openSpeaking({ turnId, format, send, aheadMs, onEvent }) };
    return speaking;
  }

  return {
    perform(effect) {
      switch (effect.type) {
        case "start_model": {
          thinking?.cancel();
          const { model, name } = catalogue.model(agent);
          const messages = [
            { role: "system" as const, content: agent.systemPrompt },
            ...effect.messages,
          ];
          thinking = openThinking({ turnId: effect.turnId, model, name, messages, onEvent });
          return;
        }
        case "cancel_model":
          thinking?.cancel();
          return;
        case "speak":
          speakingOf(effect.turnId).say(
            effect.chunk,
            effect.text,
            synthesisOf(catalogue, agent, effect.fallback === true),
          );
          return;
        case "cancel_speech":
          speaking?.cancel();
          speaking = null;
          return;
      }
    },
    hear(frame) {
      hearing ??= openHearing({
        transcriber: options.transcriber,
        format: options.inputFormat ?? format,
        language: agent.language,
        onEvent: (event) => report(event, onEvent),
      });
      hearing.hear(frame);
    },
    stop() {
      thinking?.cancel();
      speaking?.cancel();
      hearing?.close();
    },
  };
}

function report(event: TranscriberEvent, onEvent: (event: TurnEvent) => void): void {
  if (event.type === "speech_started") onEvent({ type: "caller_speech_started" });
  if (event.type === "partial") onEvent({ type: "caller_partial", text: event.text });
  if (event.type === "eager_end_of_turn") {
    onEvent({ type: "caller_probably_done", text: event.text });
  }
  if (event.type === "turn_resumed") onEvent({ type: "caller_resumed" });
  if (event.type === "end_of_turn") onEvent({ type: "caller_utterance", text: event.text });
}
