import * as fc from "fast-check";
import { expect, test } from "vitest";
import { apology } from "../../../../src/voice/turn/reply.ts";
import { markName } from "../../../../src/voice/turn/state.ts";
import {
  initialTurnState,
  resume,
  step,
  type TurnConfig,
  type TurnEffect,
  type TurnEvent,
  type TurnState,
} from "../../../../src/voice/turn.ts";
import { holds } from "../holds.ts";

/** An event that may be about the reply under way, an old one, or one that never was. */
type Happening = { after: number; event: (state: TurnState) => TurnEvent | "evicted" };

const words = fc.constantFrom(
  "Hello there, how are you? ",
  "Fine. ",
  "One moment please, let me have a look at it. And ",
  "goodbye ",
  "明天上午十点有空位。",
  "… ",
  " ",
);

const turnId = (state: TurnState, back: number) => (state.reply?.turnId ?? state.lastTurnId) - back;
const back = fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 2);
const chunk = fc.constantFrom(0, 0, 0, 1, 1, 2);

const plain = fc.constantFrom<TurnEvent>(
  { type: "joined" },
  { type: "client_lost" },
  { type: "rejoined" },
  { type: "taken_over" },
  { type: "audio_received" },
  { type: "caller_speech_started" },
  { type: "interrupt" },
  { type: "tick" },
);
const rare = fc.constantFrom<TurnEvent>(
  { type: "client_closed" },
  { type: "end_requested", reason: "api" },
);
const caller = fc.constantFrom("caller_partial", "caller_utterance", "user_text");
const modelEnds = fc.constantFrom("model_done", "model_done", "model_failed");
const speechEnds = fc.constantFrom("speech_done", "speech_done", "speech_done", "speech_failed");

type Make = Happening["event"];

function made<T>(
  weight: number,
  values: fc.Arbitrary<T>,
  make: (state: TurnState, value: T) => TurnEvent | "evicted",
): fc.WeightedArbitrary<Make> {
  return {
    weight,
    arbitrary: values.map(
      (value): Make =>
        (state) =>
          make(state, value),
    ),
  };
}

const event: fc.Arbitrary<Make> = fc.oneof(
  made(8, plain, (_, each) => each),
  made(1, rare, (_, each) => each),
  made(2, fc.constant("evicted" as const), (_, each) => each),
  made(10, fc.tuple(caller, words), (_, [type, text]) => ({ type, text })),
  made(30, fc.tuple(back, words), (state, [n, text]) => {
    return { type: "model_delta", turnId: turnId(state, n), text };
  }),
  made(15, fc.tuple(back, modelEnds), (state, [n, type]) => ({ type, turnId: turnId(state, n) })),
  made(40, fc.tuple(back, chunk, fc.nat(2000)), (state, [n, index, ms]) => {
    return { type: "speech_audio", turnId: turnId(state, n), chunk: index, ms };
  }),
  made(40, fc.tuple(back, chunk, speechEnds), (state, [n, index, type]) => {
    return { type, turnId: turnId(state, n), chunk: index };
  }),
  made(10, fc.tuple(back, chunk), (state, [n, index]) => {
    return { type: "mark", name: markName(turnId(state, n), index) };
  }),
);

const happenings = fc.array(
  fc.record({ after: fc.oneof(fc.nat(200), fc.nat(200), fc.nat(3000)), event }),
  {
    maxLength: 80,
    size: "max",
  },
);

const config: fc.Arbitrary<TurnConfig> = fc.record({
  greeting: fc.constantFrom(null, "Hello, this is the clinic. How can I help?", " "),
  language: fc.constant("en"),
  endCallPhrases: fc.constantFrom([], ["goodbye"]),
  idleMs: fc.constantFrom(5000, 600_000),
  maxMs: fc.constantFrom(20_000, 3_600_000),
  textOnlyUntilAudio: fc.boolean(),
});

type Seen = { state: TurnState; effects: TurnEffect[]; now: number; before: TurnState };

/** Joins, then lets everything happen; `look` sees each step. */
function live(settings: TurnConfig, all: Happening[], look: (seen: Seen) => void): TurnEffect[] {
  let state = initialTurnState(settings);
  let now = 1_000_000;
  const effects: TurnEffect[] = [];
  const joined: Happening = { after: 0, event: () => ({ type: "joined" }) };
  for (const happening of [joined, ...all]) {
    now += happening.after;
    const next = happening.event(state);
    const result = next === "evicted" ? resume(state, now) : step(state, next, now);
    look({ state: result.state, effects: result.effects, now, before: state });
    effects.push(...result.effects);
    state = result.state;
  }
  return effects;
}

const whatever = (look: (seen: Seen) => void, over?: (effects: TurnEffect[]) => void) =>
  holds(
    fc.property(config, happenings, (settings, all) => {
      const effects = live(settings, all, look);
      over?.(effects);
    }),
    500,
  );

test("the end comes once and nothing comes after it", () => {
  whatever(
    ({ before, effects }) => {
      if (before.phase === "ended") expect(effects).toEqual([]);
    },
    (effects) => {
      const end = effects.findIndex(({ type }) => type === "end");
      if (end >= 0) expect(end).toBe(effects.length - 1);
    },
  );
});

test("an ended call has no reply, and the state is always plain data", () => {
  whatever(({ state }) => {
    if (state.phase === "ended") expect(state.reply).toBeNull();
    expect(JSON.parse(JSON.stringify(state))).toEqual(state);
  });
});

test("a step never changes the state it was given", () => {
  whatever(({ state }) => deepFreeze(state));
});

test("never two replies at once: the model and the synthesis of the last one were stopped", () => {
  const running = { model: new Set<number>(), speech: new Set<string>() };
  const follow = (effect: TurnEffect) => {
    if (effect.type === "start_model") {
      expect([...running.model, ...running.speech]).toEqual([]);
      running.model.add(effect.turnId);
    }
    if (effect.type === "cancel_model") running.model.delete(effect.turnId);
    if (effect.type === "speak") {
      running.speech.add(`${effect.turnId}-${effect.chunk}`);
      expect(running.speech.size).toBeLessThanOrEqual(2);
      const turns = new Set([...running.speech].map((key) => key.split("-")[0]));
      expect(turns.size).toBe(1);
    }
    if (effect.type === "cancel_speech") running.speech.clear();
  };
  holds(
    fc.property(config, happenings, (settings, all) => {
      running.model.clear();
      running.speech.clear();
      const noticed = all.map((happening) => ({
        ...happening,
        event: (state: TurnState) => {
          const next = happening.event(state);
          if (next === "evicted") {
            running.model.clear();
            running.speech.clear();
          } else stopped(next, running);
          return next;
        },
      }));
      live(settings, noticed, ({ effects, state }) => {
        effects.forEach(follow);
        if (state.phase === "ended") expect([...running.model, ...running.speech]).toEqual([]);
      });
    }),
    500,
  );
});

/** A stream that reports its end needs no cancelling. */
function stopped(event: TurnEvent, running: { model: Set<number>; speech: Set<string> }) {
  if (event.type === "model_done" || event.type === "model_failed")
    running.model.delete(event.turnId);
  if (event.type === "speech_done" || event.type === "speech_failed") {
    running.speech.delete(`${event.turnId}-${event.chunk}`);
  }
}

test("every line is recorded once, in order, and never changes", () => {
  whatever(
    ({ before, state }) => {
      expect(state.entries.slice(0, before.entries.length)).toEqual(before.entries);
      expect(
        state.entries.every(({ content }) => content.trim() === content && content !== ""),
      ).toBe(true);
    },
    (effects) => {
      const recorded = effects.flatMap((effect) =>
        effect.type === "record" ? [effect.entry] : [],
      );
      expect(recorded.map(({ index }) => index)).toEqual(recorded.map((_, i) => i));
    },
  );
});

test("the model is asked with the transcript, and only when the caller spoke last", () => {
  whatever(({ state, effects }) => {
    for (const effect of effects) {
      if (effect.type !== "start_model") continue;
      expect(effect.messages).toEqual(
        state.entries.map(({ role, content }) => ({ role, content })),
      );
      expect(effect.messages.at(-1)?.role).toBe("user");
    }
  });
});

test("what was heard is always the beginning of what the agent meant to say", () => {
  whatever(({ before, effects }) => {
    for (const effect of effects) {
      if (effect.type !== "record" || effect.entry.role !== "assistant") continue;
      // Fixed texts that are only shown begin and end within one step.
      const meant = [before.reply?.text, before.config.greeting?.trim(), apology];
      expect(meant.some((text) => text?.startsWith(effect.entry.content))).toBe(true);
    }
  });
});

test("of a reply that is not over, an alarm or a stream will tell", () => {
  whatever(({ state, now }) => {
    if (state.phase !== "live") return;
    expect(state.alarmAt).toBeGreaterThan(now);
    const { reply } = state;
    if (!reply?.textDone) return;
    if (reply.pausedAt !== null) {
      expect(state.alarmAt).toBeLessThanOrEqual(reply.pausedAt + 1500);
      return;
    }
    const waitsForSpeech = reply.playback.chunks
      .slice(0, reply.requested)
      .some(({ done }) => !done);
    if (!waitsForSpeech) expect(reply.requested).toBe(reply.playback.chunks.length);
  });
});

function deepFreeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  Object.values(value).forEach(deepFreeze);
}
