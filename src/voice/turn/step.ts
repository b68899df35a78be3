import { playedAt } from "../playback.ts";
import {
  callerPartial,
  callerProbablyDone,
  callerSaid,
  callerUttered,
  interrupt,
} from "./caller.ts";
import { type Draft, emit, isEnded, send, update } from "./draft.ts";
import type { AgentMode, TurnEffect, TurnEvent } from "./messages.ts";
import { doubtEndsAt, endDoubt, pause } from "./pause.ts";
import { clientIsBack, join, loseClient, voiceJoins } from "./presence.ts";
import { addText, breakOff, endAudio, endText, finish, settle } from "./reply.ts";
import { dropSpeculation, speculationGoesOn } from "./speculation.ts";
import { audioSent, chunkSent, markEchoed, speakAgain, speechFailed } from "./speech.ts";
import { hasAudio, isComplete, type Reply, type TurnState } from "./state.ts";

export type Step = { state: TurnState; effects: TurnEffect[] };

/**
 * One event at `now` (ms). Time passes first: a reply that was played by now is settled before the
 * event is looked at, so that speech after its last word interrupts nothing.
 */
export function step(state: TurnState, event: TurnEvent, now: number): Step {
  // A line found broken after a crash was broken in the silence before, which so proves nothing.
  const mayBeIdle = event.type !== "client_lost";
  return within(state, now, { mayBeIdle }, (draft) => {
    if (isExpected(event, state.phase)) handle(draft, event);
  });
}

/**
 * Goes on after the object was evicted: the client and its audio are still there, every stream of
 * the model and of the synthesis is gone. So each of them counts as broken off, without blame: a
 * reply whose text was not complete ends with the text there is, or is asked for again when nothing
 * of it was audible; chunks whose audio was not complete are synthesised again.
 */
export function resume(state: TurnState, now: number): Step {
  return within(state, now, { mayBeIdle: true }, (draft) => {
    update(draft, { alarmAt: null, speculation: null });
    const { reply } = draft.state;
    if (!reply) return;
    if (!reply.textDone) breakOff(draft, reply, reply.modelFailures);
    if (draft.state.reply?.turnId !== reply.turnId) return;
    for (const [index, chunk] of reply.playback.chunks.slice(0, reply.requested).entries()) {
      if (!chunk.done) speakAgain(draft, index);
    }
  });
}

function within(
  state: TurnState,
  now: number,
  { mayBeIdle }: { mayBeIdle: boolean },
  change: (draft: Draft) => void,
): Step {
  const draft: Draft = { state, now, effects: [] };
  passTime(draft, mayBeIdle);
  if (!isEnded(draft)) change(draft);
  passTime(draft, true);
  announce(draft);
  return { state: draft.state, effects: draft.effects };
}

const beforeJoining: TurnEvent["type"][] = [
  "joined",
  "audio_received",
  "client_closed",
  "end_requested",
];

function isExpected(event: TurnEvent, phase: TurnState["phase"]): boolean {
  return phase === "waiting" ? beforeJoining.includes(event.type) : event.type !== "joined";
}

type Handlers = { [E in TurnEvent as E["type"]]: (draft: Draft, event: E) => void };

const handlers: Handlers = {
  joined: join,
  client_lost: loseClient,
  rejoined: clientIsBack,
  taken_over: clientIsBack,
  client_closed: (draft) => finish(draft, "hangup"),
  audio_received: voiceJoins,
  caller_speech_started: pause,
  caller_partial: (draft, { text }) => callerPartial(draft, text),
  caller_utterance: (draft, { text }) => callerUttered(draft, text),
  caller_probably_done: (draft, { text }) => callerProbablyDone(draft, text),
  caller_resumed: dropSpeculation,
  user_text: (draft, { text }) => callerSaid(draft, text),
  interrupt,
  model_delta: (draft, { turnId, text }) => {
    if (speculationGoesOn(draft, turnId, { delta: text })) return;
    const reply = beingWritten(draft, turnId);
    if (reply) addText(draft, reply, text);
  },
  model_done: (draft, { turnId }) => {
    if (speculationGoesOn(draft, turnId, "done")) return;
    const reply = beingWritten(draft, turnId);
    // No answer is as bad as a failure: the caller would wait in silence.
    if (reply?.text === "") breakOff(draft, reply, reply.modelFailures + 1);
    else if (reply) endText(draft);
  },
  model_failed: (draft, { turnId }) => {
    if (speculationGoesOn(draft, turnId, "failed")) return;
    const reply = beingWritten(draft, turnId);
    if (reply) breakOff(draft, reply, reply.modelFailures + 1);
  },
  speech_audio: (draft, { turnId, chunk, ms }) => {
    const reply = beingSpoken(draft, turnId, chunk);
    if (reply && ms > 0) audioSent(draft, reply, chunk, ms);
  },
  speech_done: (draft, { turnId, chunk }) => {
    const reply = beingSpoken(draft, turnId, chunk);
    if (reply) chunkSent(draft, reply, chunk);
  },
  speech_failed: (draft, { turnId, chunk }) => {
    const reply = beingSpoken(draft, turnId, chunk);
    if (reply) speechFailed(draft, reply, chunk);
  },
  mark: (draft, { name }) => markEchoed(draft, name),
  end_requested: (draft, { reason }) => finish(draft, reason),
  tick: (draft) => update(draft, { alarmAt: null }),
};

function handle(draft: Draft, event: TurnEvent): void {
  // The table's type pairs each event with its own handler, which indexing cannot express.
  const handler = handlers[event.type] as (draft: Draft, event: TurnEvent) => void;
  handler(draft, event);
}

/** The reply under way, if it is of this turn and its model has not finished. */
function beingWritten(draft: Draft, turnId: number): Reply | null {
  const { reply } = draft.state;
  return reply?.turnId === turnId && !reply.textDone ? reply : null;
}

/** The reply under way, if it is of this turn and the chunk is at the synthesis. */
function beingSpoken(draft: Draft, turnId: number, chunk: number): Reply | null {
  const { reply } = draft.state;
  if (reply?.turnId !== turnId || chunk >= reply.requested) return null;
  return reply.playback.chunks[chunk]?.done === false ? reply : null;
}

function passTime(draft: Draft, mayBeIdle: boolean): void {
  if (draft.state.phase !== "live") return;
  if (draft.now >= doubtEndsAt(draft.state)) endDoubt(draft);
  const { reply } = draft.state;
  const heardAt = heardToTheEndAt(draft.state);
  if (reply && heardAt !== null && draft.now >= heardAt) settle(draft, reply);
  if (isEnded(draft)) return;
  const { joinedAt, config } = draft.state;
  if (draft.now >= joinedAt + config.maxMs) finish(draft, "max_duration");
  else if (mayBeIdle && draft.now >= idleAt(draft.state)) finish(draft, "idle");
}

function heardToTheEndAt({ reply, echoes }: TurnState): number | null {
  return reply && isComplete(reply) ? playedAt(reply.playback, echoes) : null;
}

/** A client that is away is not idle: it has its own time to come back. */
function idleAt({ away, activeAt, config }: TurnState): number {
  return away ? Number.POSITIVE_INFINITY : activeAt + config.idleMs;
}

/** Tells the client and the alarm what has changed. */
function announce(draft: Draft): void {
  const { phase, away, announced, reply } = draft.state;
  if (phase !== "live") return;
  if (reply && isComplete(reply)) endAudio(draft, reply);
  const mode = modeOf(draft.state);
  if (!away && mode !== announced) {
    update(draft, { announced: mode });
    send(draft, { type: "state", state: mode });
  }
  setAlarm(draft);
}

function modeOf({ reply }: TurnState): AgentMode {
  if (!reply || reply.pausedAt !== null) return "listening";
  return hasAudio(reply) ? "speaking" : "thinking";
}

/** Only an earlier alarm is asked for at once: each costs a write, and most deadlines move away. */
function setAlarm(draft: Draft): void {
  const { joinedAt, config, alarmAt } = draft.state;
  const heardAt = heardToTheEndAt(draft.state) ?? Number.POSITIVE_INFINITY;
  const doubtAt = doubtEndsAt(draft.state);
  const at = Math.min(joinedAt + config.maxMs, idleAt(draft.state), heardAt, doubtAt);
  if (alarmAt !== null && alarmAt > draft.now && at >= alarmAt) return;
  update(draft, { alarmAt: at });
  emit(draft, { type: "set_alarm", at });
}
