import { textNotHeard } from "../playback.ts";
import { type Draft, update } from "./draft.ts";
import { answer, cut, say } from "./reply.ts";
import { dropSpeculation } from "./speculation.ts";
import { heardOf } from "./state.ts";

/** A client that joins by text and sends audio this soon is greeted again, by voice. */
const lateVoiceMs = 5000;

export function join(draft: Draft): void {
  update(draft, { phase: "live", joinedAt: draft.now, activeAt: draft.now });
  const greeting = draft.state.config.greeting?.trim() ?? "";
  if (greeting !== "") say(draft, "greeting", greeting);
}

/** A microphone may open after the greeting was shown; its owner expects to hear it. */
export function voiceJoins(draft: Draft): void {
  const { voice, phase, away, entries, reply, joinedAt } = draft.state;
  if (voice) return;
  update(draft, { voice: true });
  const [greeting, more] = entries;
  if (phase !== "live" || away || reply || greeting?.role !== "assistant" || more) return;
  if (draft.now - joinedAt > lateVoiceMs) return;
  say(draft, "greeting", greeting.content, { shown: true });
}

/**
 * What was heard until now stays said; the rest, from the start of the sentence that was cut, is
 * kept for the client's return. A reply of which nothing was heard is asked for again then, unless
 * its text was complete.
 */
export function loseClient(draft: Draft): void {
  const { reply } = draft.state;
  update(draft, { away: true, announced: null });
  dropSpeculation(draft);
  if (!reply) return;
  const heard = reply.spoken ? heardOf(reply, draft.state, draft.now) : { text: "", ms: 0 };
  const text = textNotHeard(reply.playback, heard).trimStart();
  const worthKeeping = text !== "" && !reply.shown && (reply.textDone || heard.text !== "");
  update(draft, { unheard: worthKeeping ? { source: reply.source, text } : null });
  cut(draft, heard);
}

export function clientIsBack(draft: Draft): void {
  const { away, unheard, entries } = draft.state;
  update(draft, { away: false, announced: null, unheard: null });
  if (!away) return;
  update(draft, { activeAt: draft.now });
  if (unheard) say(draft, unheard.source, unheard.text);
  else if (entries.at(-1)?.role === "user") answer(draft);
}
