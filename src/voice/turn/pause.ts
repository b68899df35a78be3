import { isBackchannel } from "../backchannel.ts";
import { saysPhrase } from "../end-phrase.ts";
import { stopPlayback } from "../playback.ts";
import { spokenLength } from "../words.ts";
import { type Draft, emit, updateReply } from "./draft.ts";
import { endAudio, speakNext, speechUnderWay } from "./reply.ts";
import { hasAudio, heardOf, type TurnState } from "./state.ts";

/** A sound that no word follows for so long was no interruption. */
const doubtMs = 1500;
/** After so many, the sounds are a street's, or the agent's own from a loudspeaker. */
const falseAlarmsHeeded = 3;
/** About a second of speech: who says "yes" over it has understood what is asked, and answers. */
const lastWords = 15;

/**
 * Somebody makes a sound while the agent is heard: it falls silent at once, but nothing is decided.
 * Words will end the reply; without them it goes on from the word where it stopped.
 */
export function pause(draft: Draft): void {
  const { reply } = draft.state;
  if (!reply || !hasAudio(reply) || reply.pausedAt !== null) return;
  if (reply.falseAlarms >= falseAlarmsHeeded) return;
  const { turnId, playback } = reply;
  emit(draft, { type: "send_clear", turnId });
  if (speechUnderWay(reply) > 0) emit(draft, { type: "cancel_speech", turnId });
  const heard = heardOf(reply, draft.state, draft.now);
  updateReply(draft, {
    playback: stopPlayback(playback, heard, draft.now),
    requested: playback.chunks.length,
    pausedAt: draft.now,
  });
  endAudio(draft, reply);
}

/** It was no interruption. */
export function goOn(draft: Draft): void {
  if (draft.state.reply?.pausedAt == null) return;
  updateReply(draft, { pausedAt: null });
  speakNext(draft);
}

/** Nobody said a word. */
export function endDoubt(draft: Draft): void {
  updateReply(draft, { falseAlarms: (draft.state.reply?.falseAlarms ?? 0) + 1 });
  goOn(draft);
}

/** When a paused reply goes on by itself; never, when none is paused. */
export function doubtEndsAt({ reply }: TurnState): number {
  return reply?.pausedAt == null ? Number.POSITIVE_INFINITY : reply.pausedAt + doubtMs;
}

/** Words that accompany the agent's speech and want no answer. */
export function isAside(draft: Draft, text: string): boolean {
  const { reply, config, callerTurnId } = draft.state;
  // An utterance that began before the agent was heard is meant.
  if (!reply || !hasAudio(reply) || callerTurnId !== null) return false;
  if (saysPhrase(text, config.endCallPhrases) || !isBackchannel(text, config.language))
    return false;
  const heard = heardOf(reply, draft.state, draft.now).text.length;
  return !reply.textDone || spokenLength(reply.text.slice(heard).trim()) > lastWords;
}
