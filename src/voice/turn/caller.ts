import { saysPhrase } from "../end-phrase.ts";
import { type Draft, isEnded, nextTurnId, record, send, update } from "./draft.ts";
import { goOn, isAside } from "./pause.ts";
import { adopt, answer, cut, finish } from "./reply.ts";
import { speculate, takeSpeculation } from "./speculation.ts";
import { hasAudio } from "./state.ts";

/** Stops the agent for good, whether it is heard already or not. */
export function interrupt(draft: Draft): void {
  const { reply } = draft.state;
  cut(draft);
  if (reply?.source === "apology") finish(draft, "error");
}

export function callerPartial(draft: Draft, text: string): void {
  if (text.trim() === "") return;
  update(draft, { activeAt: Math.max(draft.state.activeAt, draft.now) });
  if (isAside(draft, text)) return;
  const { reply } = draft.state;
  if (reply && hasAudio(reply)) interrupt(draft);
  if (isEnded(draft)) return;
  send(draft, { type: "user_transcript", turn_id: callerTurn(draft), text, final: false });
}

/** A whole utterance by voice. One that only accompanies the agent's speech makes no turn. */
export function callerUttered(draft: Draft, words: string): void {
  if (isAside(draft, words)) {
    update(draft, { activeAt: Math.max(draft.state.activeAt, draft.now) });
    goOn(draft);
  } else callerSaid(draft, words);
}

/** A whole utterance, spoken or typed. It replaces whatever reply was under way. */
export function callerSaid(draft: Draft, words: string): void {
  const text = words.trim();
  if (text === "") return;
  const { reply, config, hasSpeculated } = draft.state;
  cut(draft);
  const speculation = takeSpeculation(draft, text);
  update(draft, { activeAt: draft.now, unheard: null });
  send(draft, { type: "user_transcript", turn_id: callerTurn(draft), text, final: true });
  update(draft, { callerTurnId: null, hasSpeculated: false });
  record(draft, { role: "user", content: text });
  if (saysPhrase(text, config.endCallPhrases)) finish(draft, "end_phrase");
  else if (reply?.source === "apology") finish(draft, "error");
  else if (speculation) adopt(draft, speculation);
  else answer(draft, { speculation: hasSpeculated ? "discarded" : "none" });
}

/** The caller has probably finished: the model may begin to think. */
export function callerProbablyDone(draft: Draft, words: string): void {
  callerPartial(draft, words);
  const { reply, away, config } = draft.state;
  if (isEnded(draft) || reply || away || saysPhrase(words, config.endCallPhrases)) return;
  speculate(draft, words.trim());
}

function callerTurn(draft: Draft): number {
  const turnId = draft.state.callerTurnId ?? nextTurnId(draft);
  update(draft, { callerTurnId: turnId });
  return turnId;
}
