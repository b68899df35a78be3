import type { ChatMessage } from "../../ports/model.ts";
import type { Chunker } from "../chunker.ts";
import { aheadMs, type Heard, heardBy, type Playback } from "../playback.ts";
import type { AgentMode, SpeculationUse } from "./messages.ts";

export type TurnConfig = {
  /** `null`: the caller speaks first. */
  greeting: string | null;
  /** BCP-47; what the caller is likely to speak. */
  language: string;
  /** Ask the model as soon as the caller has probably finished. */
  speculates: boolean;
  /** Said by either side, they end the call. */
  endCallPhrases: string[];
  /** No word of the caller and no speech of the agent for this long ends the call. */
  idleMs: number;
  /** Counted from the moment the client joined. */
  maxMs: number;
  /** Nothing is synthesised until the client has sent audio. */
  textOnlyUntilAudio: boolean;
};

/** A line of the transcript. The agent's hold what was heard, never what was only planned. */
export type Entry = {
  /** Position in the transcript, from 0. */
  index: number;
  role: "user" | "assistant";
  content: string;
  /** The reply was cut off here. */
  interrupted?: true;
};

/** `greeting` and `apology` are fixed texts. */
export type ReplySource = "greeting" | "model" | "apology";

/** The one reply under way: from the question to the model to the last word played. */
export type Reply = {
  turnId: number;
  source: ReplySource;
  /** Synthesised and played; else it is delivered by being sent as text. */
  spoken: boolean;
  /** Delivered as text before, and in the transcript since; now it is only given a voice. */
  shown: boolean;
  /** All text known so far. */
  text: string;
  /** No more text will come. */
  textDone: boolean;
  /** Cuts the text of a spoken reply; the pieces are the chunks of `playback`. */
  chunker: Chunker;
  playback: Playback;
  /** How many chunks were given to the synthesis, in order. */
  requested: number;
  /** Chunks whose synthesis failed, as often as it did. */
  retried: number[];
  /** The client was told that audio begins, and not yet that it ends. */
  audioOpen: boolean;
  firstAudioAt: number | null;
  /** The caller made a sound: the reply is silent until it is clear whether that was a word. */
  pausedAt: number | null;
  /** Pauses in vain: sounds without a word. */
  falseAlarms: number;
  /** Models that failed at this reply before. */
  modelFailures: number;
  askedAt: number;
  speculation: SpeculationUse;
  firstTextAt: number | null;
  /** It says goodbye: the call ends when it was heard to its end. */
  endsCall: boolean;
};

/** A reply to what the caller has probably said; nothing of it leaves before that is certain. */
export type Speculation = {
  /** The reply will have it too. */
  turnId: number;
  /** What the caller is taken to have said. */
  answers: string;
  text: string;
  textDone: boolean;
};

/** The whole of a call that must survive the eviction of its object. Plain data, JSON-safe. */
export type TurnState = {
  config: TurnConfig;
  phase: "waiting" | "live" | "ended";
  joinedAt: number;
  /** The last word of the caller, or the end of the agent's last speech. */
  activeAt: number;
  /** The client takes part by voice. */
  voice: boolean;
  /** The client has echoed a mark. */
  echoes: boolean;
  /** The agent's own voice has failed; what is left of the call has another one. */
  voiceFailed: boolean;
  /** The socket is lost. */
  away: boolean;
  /** The one list from which transcript and model history are made. */
  entries: Entry[];
  /** Every turn of either side has its own id, in order of beginning, from 1. */
  lastTurnId: number;
  /** The utterance being understood, if one is. */
  callerTurnId: number | null;
  /** Never beside a reply. */
  reply: Reply | null;
  speculation: Speculation | null;
  /** For the utterance being understood the model was asked once already; it is the only time. */
  hasSpeculated: boolean;
  /** What a client that lost its socket did not hear, to be said when it is back. */
  unheard: { source: ReplySource; text: string } | null;
  /** What the client was last told. */
  announced: AgentMode | null;
  alarmAt: number | null;
};

export function initialTurnState(config: TurnConfig): TurnState {
  return {
    config,
    phase: "waiting",
    joinedAt: 0,
    activeAt: 0,
    voice: !config.textOnlyUntilAudio,
    echoes: false,
    voiceFailed: false,
    away: false,
    entries: [],
    lastTurnId: 0,
    callerTurnId: null,
    reply: null,
    speculation: null,
    hasSpeculated: false,
    unheard: null,
    announced: null,
    alarmAt: null,
  };
}

/** The transcript as it stands at `now`, with what was heard so far of the reply under way. */
export function transcriptAt(state: TurnState, now: number): Entry[] {
  const { reply } = state;
  if (!reply || reply.shown) return state.entries;
  const content = heardOf(reply, state, now).text.trimEnd();
  if (content === "") return state.entries;
  return [...state.entries, { index: state.entries.length, role: "assistant", content }];
}

/** How much audio the client holds that the caller has yet to hear, in ms. */
export function unheardMs({ reply }: TurnState, now: number): number {
  return reply ? aheadMs(reply.playback, now) : 0;
}

export function modelHistory(state: TurnState): ChatMessage[] {
  return state.entries.map(({ role, content }) => ({ role, content }));
}

/** Text that is only shown counts as heard once it was sent. */
export function heardOf(reply: Reply, { echoes }: TurnState, now: number): Heard {
  return reply.spoken ? heardBy(reply.playback, now, echoes) : { text: reply.text, ms: 0 };
}

export function hasAudio(reply: Reply): boolean {
  return reply.firstAudioAt !== null;
}

/** All of its text is known and all of its audio, if it has any, was sent. */
export function isComplete(reply: Reply): boolean {
  return reply.textDone && reply.playback.chunks.every((chunk) => chunk.done);
}

export function markName(turnId: number, chunk: number): string {
  return `turn-${turnId}-${chunk}`;
}
