import {
  initialTurnState,
  step,
  type TurnConfig,
  type TurnEffect,
  type TurnEvent,
  type TurnMessage,
  type TurnState,
} from "../../../../src/voice/turn.ts";

const usual: TurnConfig = {
  greeting: "Hello there.",
  language: "en",
  speculates: true,
  endCallPhrases: ["goodbye"],
  idleMs: 600_000,
  maxMs: 3_600_000,
  textOnlyUntilAudio: false,
};

/** A call driven by hand: `at` sets the clock, every method is one event at that time. */
export function startCall(config: Partial<TurnConfig> = {}) {
  let state: TurnState = initialTurnState({ ...usual, ...config });
  let now = 0;
  const all: TurnEffect[] = [];

  const apply = (result: { state: TurnState; effects: TurnEffect[] }): TurnEffect[] => {
    // As it is stored and read back between events.
    state = JSON.parse(JSON.stringify(result.state));
    all.push(...result.effects);
    return result.effects;
  };
  const on = (event: TurnEvent) => apply(step(state, event, now));
  return {
    on,
    apply,
    at(ms: number) {
      now = ms;
      return this;
    },
    joined: () => on({ type: "joined" }),
    tick: () => on({ type: "tick" }),
    says: (text: string) => on({ type: "caller_utterance", text }),
    types: (text: string) => on({ type: "user_text", text }),
    speechStarts: () => on({ type: "caller_speech_started" }),
    model(turnId: number, text: string) {
      const effects = on({ type: "model_delta", turnId, text });
      return [...effects, ...on({ type: "model_done", turnId })];
    },
    delta: (turnId: number, text: string) => on({ type: "model_delta", turnId, text }),
    modelDone: (turnId: number) => on({ type: "model_done", turnId }),
    modelFails: (turnId: number) => on({ type: "model_failed", turnId }),
    audio: (turnId: number, chunk: number, ms: number) =>
      on({ type: "speech_audio", turnId, chunk, ms }),
    spoken(turnId: number, chunk: number, ms: number) {
      const effects = on({ type: "speech_audio", turnId, chunk, ms });
      return [...effects, ...on({ type: "speech_done", turnId, chunk })];
    },
    speechFails: (turnId: number, chunk: number) => on({ type: "speech_failed", turnId, chunk }),
    get state() {
      return state;
    },
    get now() {
      return now;
    },
    /** Role and content, and where it was cut. */
    get lines() {
      return state.entries.map(({ role, content, interrupted }) => {
        return `${role}: ${content}${interrupted ? " |" : ""}`;
      });
    },
    all,
  };
}

export function sent(effects: TurnEffect[]): TurnMessage[] {
  return effects.flatMap((effect) => (effect.type === "send" ? [effect.message] : []));
}

/** The effects by name, messages by `send:` and theirs; alarms and states have tests of their own. */
export function names(effects: TurnEffect[]): string[] {
  return effects
    .map((effect) => (effect.type === "send" ? `send:${effect.message.type}` : effect.type))
    .filter((name) => name !== "set_alarm" && name !== "send:state");
}

export function pick<T extends TurnEffect["type"]>(effects: TurnEffect[], type: T) {
  return effects.filter(
    (effect): effect is Extract<TurnEffect, { type: T }> => effect.type === type,
  );
}
