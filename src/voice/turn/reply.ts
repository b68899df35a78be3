import { emptyChunker, flushText, pushText } from "../chunker.ts";
import { saysPhrase } from "../end-phrase.ts";
import { addChunk, emptyPlayback, type Heard } from "../playback.ts";
import { type Draft, emit, nextTurnId, record, send, update, updateReply } from "./draft.ts";
import type { EndReason } from "./messages.ts";
import { dropSpeculation } from "./speculation.ts";
import {
  hasAudio,
  heardOf,
  isComplete,
  modelHistory,
  type Reply,
  type ReplySource,
  type Speculation,
} from "./state.ts";

export const apology = "I'm sorry, something went wrong on my side. Please try again in a moment.";
/** More would be paid for in vain when the caller interrupts; fewer would leave gaps. */
const speechRequestsUnderWay = 2;

/** Asks the model to answer the transcript. A client that is away is answered when it is back. */
export function answer(
  draft: Draft,
  so: Partial<Pick<Reply, "modelFailures" | "askedAt" | "speculation">> = {},
): void {
  if (draft.state.away) return;
  const { turnId } = begin(draft, "model");
  updateReply(draft, so);
  emit(draft, { type: "start_model", turnId, messages: modelHistory(draft.state) });
}

/** The model was asked before: what it has written so far becomes the reply. */
export function adopt(draft: Draft, { turnId, text, textDone }: Speculation): void {
  const reply = begin(draft, "model", turnId);
  updateReply(draft, { speculation: "used" });
  if (text !== "") addText(draft, reply, text);
  // Its text may have ended by itself, with a goodbye.
  if (textDone && draft.state.reply?.textDone === false) endText(draft);
}

/** Says a fixed text. `shown`: it was delivered as text before, and is in the transcript. */
export function say(
  draft: Draft,
  source: ReplySource,
  text: string,
  { shown = false }: { shown?: boolean } = {},
): void {
  const { turnId } = begin(draft, source);
  updateReply(draft, { text, textDone: true, shown });
  if (!shown) send(draft, { type: "agent_text", turn_id: turnId, text, final: true });
  takeChunks(draft, text);
  takeRest(draft);
  speakNext(draft);
  settleIfShown(draft);
}

/** Text of the model arrived. */
export function addText(draft: Draft, reply: Reply, delta: string): void {
  const text = reply.text === "" ? delta.trimStart() : delta;
  if (text === "") return;
  updateReply(draft, {
    text: reply.text + text,
    firstTextAt: reply.firstTextAt ?? draft.now,
  });
  send(draft, { type: "agent_text", turn_id: reply.turnId, delta: text, final: false });
  takeChunks(draft, text);
  const current = draft.state.reply;
  if (current?.textDone) {
    emit(draft, { type: "cancel_model", turnId: reply.turnId });
    announceText(draft, current);
  }
  speakNext(draft);
}

/** The model has said all it will say. */
export function endText(draft: Draft): void {
  updateReply(draft, { textDone: true });
  takeRest(draft);
  const { reply } = draft.state;
  if (!reply) return;
  announceText(draft, reply);
  speakNext(draft);
  settleIfShown(draft);
}

/**
 * The model broke off. What the caller has got already stands as the reply; else the model is asked
 * again, and when that was its second failure the agent apologises and the call ends.
 */
export function breakOff(draft: Draft, reply: Reply, modelFailures: number): void {
  if (reply.spoken ? hasAudio(reply) : reply.text !== "") {
    endText(draft);
    return;
  }
  updateReply(draft, { textDone: true });
  cut(draft);
  if (modelFailures < 2) {
    const { askedAt, speculation } = reply;
    answer(draft, { modelFailures, askedAt, speculation });
  } else say(draft, "apology", apology);
}

/**
 * Stops the reply under way, if there is one, at what was heard; that, and nothing else, stays in
 * the transcript. `heard` overrules the ledger.
 */
export function cut(draft: Draft, heard?: Heard): void {
  const { reply } = draft.state;
  if (!reply) return;
  const { turnId } = reply;
  const { text, ms } = heard ?? heardOf(reply, draft.state, draft.now);
  if (hasAudio(reply) && reply.pausedAt === null) emit(draft, { type: "send_clear", turnId });
  if (!reply.textDone) emit(draft, { type: "cancel_model", turnId });
  if (speechUnderWay(reply) > 0) emit(draft, { type: "cancel_speech", turnId });
  endAudio(draft, reply);
  const content = text.trimEnd();
  const whole = reply.textDone && content === reply.text.trimEnd();
  update(draft, { reply: null });
  if (reply.shown) return;
  if (reply.text !== "" && !whole) {
    send(draft, { type: "interruption", turn_id: turnId, heard_text: content, heard_ms: ms });
  }
  if (content === "") return;
  record(draft, { role: "assistant", content, ...(whole ? {} : { interrupted: true }) });
}

/** The caller has heard all of it. */
export function settle(draft: Draft, reply: Reply): void {
  endAudio(draft, reply);
  update(draft, { reply: null, activeAt: Math.max(draft.state.activeAt, reply.playback.endsAt) });
  const content = reply.text.trimEnd();
  if (content !== "" && !reply.shown) record(draft, { role: "assistant", content });
  if (reply.source === "apology") finish(draft, "error");
  else if (reply.endsCall) finish(draft, "end_phrase");
}

export function finish(draft: Draft, reason: EndReason): void {
  cut(draft);
  dropSpeculation(draft);
  update(draft, { phase: "ended" });
  emit(draft, { type: "end", reason });
}

/** Gives the synthesis the next chunks. */
export function speakNext(draft: Draft): void {
  for (;;) {
    const { reply } = draft.state;
    const chunk = reply?.playback.chunks[reply.requested];
    if (
      !reply ||
      !chunk ||
      reply.pausedAt !== null ||
      speechUnderWay(reply) >= speechRequestsUnderWay
    )
      return;
    const { requested } = reply;
    if (!chunk.done) speakChunk(draft, reply, requested);
    updateReply(draft, { requested: requested + 1 });
  }
}

export function speakChunk(draft: Draft, { turnId, playback }: Reply, chunk: number): void {
  const text = playback.chunks[chunk]?.text;
  if (text === undefined) return;
  const voice = draft.state.voiceFailed ? { fallback: true as const } : {};
  emit(draft, { type: "speak", turnId, chunk, text, ...voice });
}

/** Tells the client once, when all audio of the reply was sent or the rest will not be, for now. */
export function endAudio(draft: Draft, reply: Reply): void {
  if (!reply.audioOpen) return;
  updateReply(draft, { audioOpen: false });
  send(draft, { type: "agent_audio_end", turn_id: reply.turnId });
}

function begin(draft: Draft, source: ReplySource, turnId = nextTurnId(draft)): Reply {
  dropSpeculation(draft);
  const reply: Reply = {
    turnId,
    source,
    spoken: draft.state.voice,
    shown: false,
    text: "",
    textDone: false,
    chunker: emptyChunker,
    playback: emptyPlayback,
    requested: 0,
    retried: [],
    audioOpen: false,
    firstAudioAt: null,
    pausedAt: null,
    falseAlarms: 0,
    modelFailures: 0,
    askedAt: draft.now,
    speculation: "none",
    firstTextAt: null,
    endsCall: false,
  };
  update(draft, { reply });
  return reply;
}

export function speechUnderWay({ playback, requested }: Reply): number {
  return playback.chunks.slice(0, requested).filter((chunk) => !chunk.done).length;
}

function takeChunks(draft: Draft, text: string): void {
  const { reply } = draft.state;
  if (!reply?.spoken) return;
  const { chunker, chunks } = pushText(reply.chunker, text);
  updateReply(draft, { chunker });
  for (const chunk of chunks) takeChunk(draft, chunk);
}

function takeRest(draft: Draft): void {
  const { reply } = draft.state;
  if (!reply) return;
  if (reply.spoken) {
    const rest = flushText(reply.chunker);
    updateReply(draft, { chunker: emptyChunker });
    if (rest.trim() !== "") takeChunk(draft, rest);
  } else if (reply.source === "model") {
    updateReply(draft, { endsCall: saysPhrase(reply.text, draft.state.config.endCallPhrases) });
  }
}

/** A chunk that completes a goodbye is the last of its reply. */
function takeChunk(draft: Draft, text: string): void {
  const { reply, config } = draft.state;
  if (!reply || reply.endsCall) return;
  const playback = addChunk(reply.playback, text);
  updateReply(draft, { playback });
  const said = playback.chunks.map((chunk) => chunk.text).join("");
  if (reply.source === "model" && saysPhrase(said, config.endCallPhrases)) {
    updateReply(draft, { endsCall: true, text: said, textDone: true, chunker: emptyChunker });
  }
}

function announceText(draft: Draft, { turnId, text }: Reply): void {
  send(draft, { type: "agent_text", turn_id: turnId, text: text.trimEnd(), final: true });
}

/** A reply without speech is delivered when its text was sent. */
function settleIfShown(draft: Draft): void {
  const { reply } = draft.state;
  if (!reply || reply.spoken || !isComplete(reply)) return;
  update(draft, { activeAt: draft.now });
  settle(draft, reply);
}
