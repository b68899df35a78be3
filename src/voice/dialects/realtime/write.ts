import type { ServerMessage } from "../dialect.ts";
import {
  addItem,
  changeItem,
  type Draft,
  doneItem,
  emit,
  emitError,
  type Item,
  lastItemId,
  newId,
  update,
} from "./draft.ts";
import { addText, endText, finishResponse, openResponse } from "./response.ts";
import { sessionView } from "./settings.ts";

/** What the session says, as events; what has no counterpart is not told. */
export function writeMessage(draft: Draft, message: ServerMessage): void {
  // The table's type pairs each message with its own writer, which indexing cannot express.
  const writer = writers[message.type] as
    | ((draft: Draft, message: ServerMessage) => void)
    | undefined;
  writer?.(draft, message);
}

type Writers = {
  [M in ServerMessage as M["type"]]?: (draft: Draft, message: Extract<ServerMessage, M>) => void;
};

const writers: Writers = {
  ready: (draft, { call_id }) => {
    if (draft.state.isOpened) return;
    update(draft, { isOpened: true, callId: call_id });
    emit(draft, "session.created", { session: sessionView(draft.state) });
  },
  state: (draft, { state }) => {
    if (state === "thinking") openResponse(draft);
    // Nothing is left of a reply that had no sound.
    if (state === "listening") finishResponse(draft, "completed");
  },
  user_transcript: (draft, { final, text }) => {
    if (final) endSpeech(draft, text);
    else startSpeech(draft);
  },
  agent_text: (draft, message) => {
    if (message.final) endText(draft, message.turn_id, message.text);
    else addText(draft, message.turn_id, message.delta);
  },
  clear: (draft) => {
    finishResponse(draft, "cancelled");
    // It is what makes a client stop its loudspeaker; one that stopped by itself needs no telling.
    if (draft.state.cause !== "stopped") startSpeech(draft);
  },
  agent_audio_end: (draft) => finishResponse(draft, "completed"),
  interruption: truncate,
  error: (draft, { code, message }) => {
    const type = code === "speech_failed" ? "server_error" : "invalid_request_error";
    emitError(draft, { code, message, type });
  },
  ended: (draft) => finishResponse(draft, "cancelled"),
};

function startSpeech(draft: Draft): void {
  if (draft.state.speechItemId !== null) return;
  const id = newId(draft, "item");
  update(draft, { speechItemId: id });
  emit(draft, "input_audio_buffer.speech_started", {
    audio_start_ms: Math.round(draft.state.receivedMs),
    item_id: id,
  });
}

/** A typed line is in the conversation since the client put it there. */
function endSpeech(draft: Draft, transcript: string): void {
  const isTyped = draft.state.cause === "typed";
  if (!isTyped) startSpeech(draft);
  const id = draft.state.speechItemId;
  if (id === null) return;
  emit(draft, "input_audio_buffer.speech_stopped", {
    audio_end_ms: Math.round(draft.state.receivedMs),
    item_id: id,
  });
  update(draft, { speechItemId: null });
  if (isTyped) return;
  const item: Item = {
    id,
    role: "user",
    isAudio: true,
    turnId: null,
    text: transcript,
    status: "completed",
    isTruncated: false,
  };
  emit(draft, "input_audio_buffer.committed", {
    previous_item_id: lastItemId(draft.state),
    item_id: id,
  });
  addItem(draft, item);
  emit(draft, "conversation.item.input_audio_transcription.completed", {
    item_id: id,
    content_index: 0,
    transcript,
  });
  doneItem(draft, item);
}

/** Of a reply only what was heard stays in the conversation. */
function truncate(
  draft: Draft,
  { turn_id, heard_text, heard_ms }: { turn_id: number; heard_text: string; heard_ms: number },
): void {
  const item = draft.state.items.findLast((known) => known.turnId === turn_id);
  if (!item) return;
  changeItem(draft, item.id, { text: heard_text, isTruncated: true, status: "incomplete" });
  if (draft.state.response?.turnId === turn_id) finishResponse(draft, "cancelled");
  if (heard_text === "") emit(draft, "conversation.item.deleted", { item_id: item.id });
  else if (item.isAudio) {
    const end = { content_index: 0, audio_end_ms: heard_ms };
    emit(draft, "conversation.item.truncated", { item_id: item.id, ...end });
  }
}
