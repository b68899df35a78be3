import { type Draft, emit, nextTurnId, update } from "./draft.ts";
import { modelHistory, type Speculation } from "./state.ts";

/** Asks the model to answer what the caller has probably said; once for each utterance. */
export function speculate(draft: Draft, answers: string): void {
  const { config, speculation, hasSpeculated } = draft.state;
  if (!config.speculates || speculation || hasSpeculated || answers === "") return;
  const turnId = nextTurnId(draft);
  update(draft, {
    speculation: { turnId, answers, text: "", textDone: false },
    hasSpeculated: true,
  });
  const messages = [...modelHistory(draft.state), { role: "user" as const, content: answers }];
  emit(draft, { type: "start_model", turnId, messages });
}

/** The speculation, if it answers just this; else it is dropped. It is over either way. */
export function takeSpeculation(draft: Draft, said: string): Speculation | null {
  const { speculation } = draft.state;
  if (speculation?.answers !== said) {
    dropSpeculation(draft);
    return null;
  }
  update(draft, { speculation: null });
  return speculation;
}

export function dropSpeculation(draft: Draft): void {
  const { speculation } = draft.state;
  if (!speculation) return;
  if (!speculation.textDone) emit(draft, { type: "cancel_model", turnId: speculation.turnId });
  update(draft, { speculation: null });
}

/** What the model of a speculation has to tell; false when it is not the one of this turn. */
export function speculationGoesOn(
  draft: Draft,
  turnId: number,
  news: { delta: string } | "done" | "failed",
): boolean {
  const { speculation } = draft.state;
  if (speculation?.turnId !== turnId || speculation.textDone) return false;
  // One that failed is forgotten: when the turn is over, the model is asked as ever.
  const failed = news === "failed" || (news === "done" && speculation.text.trim() === "");
  if (failed) update(draft, { speculation: null });
  else if (news === "done") update(draft, { speculation: { ...speculation, textDone: true } });
  else update(draft, { speculation: { ...speculation, text: speculation.text + news.delta } });
  return true;
}
