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
  "uh-huh",
  "okay",
  "明天上午十点有空位。",
  "… ",
  " ",
);

const turnId = (state: TurnState, back: number) =>
  (state.reply?.turnId ?? state.speculation?.turnId ?? state.lastTurnId) - back;
const back = fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 2);
/** Counted from the first at the synthesis; a paused reply has none there. */
const chunk = fc.constantFrom(0, 0, 0, 1, 1, 2);
const chunkOf = ({ reply }: TurnState, n: number) => {
  if (!reply) return n;
  if (reply.pausedAt !== null) return reply.requested - 1 - n;
  return (
    n +
    Math.max(
      0,
      reply.playback.chunks.findIndex(({ done }) => !done),
    )
  );
};

const plain = fc.constantFrom<TurnEvent>(
  { type: "joined" },
  { type: "client_lost" },
  { type: "rejoined" },
  { type: "taken_over" },
  { type: "audio_received" },
  { type: "caller_speech_started" },
  { type: "caller_speech_started" },
  { type: "caller_resumed" },
  { type: "interrupt" },
  { type: "tick" },
);
const rare = fc.constantFrom<TurnEvent>(
  { type: "client_closed" },
  { type: "end_requested", reason: "api" },
);
const caller = fc.constantFrom(
  "caller_partial",
  "caller_probably_done",
  "caller_probably_done",
  "caller_utterance",
  "user_text",
);
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
  // What the recogniser confirms is mostly what it had guessed.
  made(6, fc.constant(null), (state) => {
    return { type: "caller_utterance", text: state.speculation?.answers ?? "Hello?" };
  }),
  made(30, fc.tuple(back, words), (state, [n, text]) => {
    return { type: "model_delta", turnId: turnId(state, n), text };
  }),
  made(15, fc.tuple(back, modelEnds), (state, [n, type]) => ({ type, turnId: turnId(state, n) })),
  made(40, fc.tuple(back, chunk, fc.nat(2000)), (state, [n, index, ms]) => {
    return { type: "speech_audio", turnId: turnId(state, n), chunk: chunkOf(state, index), ms };
  }),
  made(40, fc.tuple(back, chunk, speechEnds), (state, [n, index, type]) => {
    return { type, turnId: turnId(state, n), chunk: chunkOf(state, index) };
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
  speculates: fc.boolean(),
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
      const { speculation, entries } = state;
      expect(effect.messages).toEqual([
        ...entries.map(({ role, content }) => ({ role, content })),
        ...(speculation ? [{ role: "user", content: speculation.answers }] : []),
      ]);
      expect(effect.messages.at(-1)?.role).toBe("user");
    }
  });
});

test("what was heard is always the beginning of what the agent meant to say", () => {
  whatever(({ before, effects }) => {
    for (const effect of effects) {
      if (effect.type !== "record" || effect.entry.role !== "assistant") continue;
      // Fixed texts that are only shown begin and end within one step.
      const speculated = before.speculation?.text.trimStart();
      const meant = [before.reply?.text, speculated, before.config.greeting?.trim(), apology];
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

test("a speculation is never beside a reply, and nothing of it leaves before it is confirmed", () => {
  whatever(({ before, state, effects }) => {
    if (state.speculation) expect(state.reply).toBeNull();
    const { speculation, entries } = before;
    const isConfirmed = state.entries[entries.length]?.content === speculation?.answers;
    if (!speculation || isConfirmed) return;
    for (const effect of effects) {
      expect(effect).not.toMatchObject({ type: "speak", turnId: speculation.turnId });
      expect(effect).not.toMatchObject({ message: { turn_id: speculation.turnId } });
    }
  });
});

test("for one utterance the model is asked at most once in vain", () => {
  let wasted = 0;
  whatever(({ before, state, effects }) => {
    const isNewCall = before.phase === "waiting";
    if (isNewCall || state.entries.length !== before.entries.length) wasted = 0;
    if (state.speculation && state.speculation !== before.speculation) {
      const isNew = state.speculation.turnId !== before.speculation?.turnId;
      if (isNew) wasted += 1;
    }
    expect(wasted).toBeLessThanOrEqual(1);
    if (!state.config.speculates) expect(state.speculation).toBeNull();
    expect(effects.filter(({ type }) => type === "start_model").length).toBeLessThanOrEqual(1);
  });
});

test("no audio is taken for sent while the reply is paused, and its text stays in one piece", () => {
  whatever(({ before, state, effects }) => {
    const { reply } = state;
    if (!reply?.spoken) return;
    const said = reply.playback.chunks.map(({ text }) => text).join("");
    expect(`${said}${reply.chunker.buffer}`.trimEnd()).toBe(reply.text.trimEnd());
    if (reply.pausedAt === null || before.reply?.pausedAt !== reply.pausedAt) return;
    expect(effects.filter(({ type }) => type === "speak")).toEqual([]);
    const sent = (from: typeof reply) => from.playback.chunks.reduce((sum, { ms }) => sum + ms, 0);
    expect(sent(reply)).toBe(sent(before.reply));
  });
});

test("every pause ends: it goes on, is confirmed, or is over", () => {
  whatever(({ state, now }) => {
    const pausedAt = state.reply?.pausedAt;
    if (pausedAt != null) expect(now - pausedAt).toBeLessThan(1500);
  });
});

test("after `clear` no audio is wanted before the next synthesis is asked for", () => {
  const cleared = new Set<number>();
  whatever(({ before, effects }) => {
    if (before.phase === "waiting") cleared.clear();
    for (const effect of effects) {
      if (effect.type === "send_clear") cleared.add(effect.turnId);
      if (effect.type === "speak") cleared.delete(effect.turnId);
      if (effect.type !== "send" || effect.message.type !== "agent_audio_start") continue;
      expect(cleared.has(effect.message.turn_id)).toBe(false);
    }
  });
});

function deepFreeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  Object.values(value).forEach(deepFreeze);
}
