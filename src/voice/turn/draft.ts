import type { TurnEffect, TurnMessage } from "./messages.ts";
import type { Entry, Reply, TurnState } from "./state.ts";

/** One step in the making: the state is replaced, never changed in place; effects are collected. */
export type Draft = { state: TurnState; readonly now: number; readonly effects: TurnEffect[] };

export function update(draft: Draft, change: Partial<TurnState>): void {
  draft.state = { ...draft.state, ...change };
}

/** Does nothing when no reply is under way. */
export function updateReply(draft: Draft, change: Partial<Reply>): void {
  if (draft.state.reply) update(draft, { reply: { ...draft.state.reply, ...change } });
}

export function emit(draft: Draft, ...effects: TurnEffect[]): void {
  draft.effects.push(...effects);
}

/** Nothing is sent to a client that is not there. */
export function send(draft: Draft, message: TurnMessage): void {
  if (!draft.state.away) emit(draft, { type: "send", message });
}

export function record(draft: Draft, line: Omit<Entry, "index">): void {
  const entry = { index: draft.state.entries.length, ...line };
  update(draft, { entries: [...draft.state.entries, entry] });
  emit(draft, { type: "record", entry });
}

export function nextTurnId(draft: Draft): number {
  update(draft, { lastTurnId: draft.state.lastTurnId + 1 });
  return draft.state.lastTurnId;
}

export function isEnded(draft: Draft): boolean {
  return draft.state.phase === "ended";
}
