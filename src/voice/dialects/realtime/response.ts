import type { AudioPiece } from "../dialect.ts";
import { toBase64 } from "../reading.ts";
import {
  addItem,
  changeItem,
  type Draft,
  doneItem,
  emit,
  findItem,
  type Item,
  itemView,
  newId,
  type Response,
  update,
} from "./draft.ts";
import { formatView } from "./settings.ts";

/** What all events about the one item of a response name. */
type Place = { response_id: string; item_id: string; output_index: 0; content_index: 0 };

/** The agent is thinking: the client learns that it will be answered. */
export function openResponse(draft: Draft): Response {
  const open = draft.state.response;
  if (open) return open;
  const response = { id: newId(draft, "resp"), itemId: null, turnId: null, hasWholeText: false };
  update(draft, { response, isBegun: true, isCommitted: false });
  emit(draft, "response.created", { response: responseView(draft, response, "in_progress") });
  return response;
}

export function addText(draft: Draft, turnId: number, delta: string): void {
  const { place, item } = itemOf(draft, turnId);
  changeItem(draft, item.id, { text: item.text + delta });
  const type = item.isAudio
    ? "response.output_audio_transcript.delta"
    : "response.output_text.delta";
  emit(draft, type, { ...place, delta });
}

/** A reply without sound is complete with its text. */
export function endText(draft: Draft, turnId: number, text: string): void {
  const { item } = itemOf(draft, turnId);
  // The whole may come at once, and clients show what comes as deltas.
  if (item.text === "") addText(draft, turnId, text);
  changeItem(draft, item.id, { text });
  tellWholeText(draft, turnId);
  if (!item.isAudio) finishResponse(draft, "completed");
}

export function addAudio(draft: Draft, { turnId, bytes }: AudioPiece): void {
  const { place } = itemOf(draft, turnId);
  emit(draft, "response.output_audio.delta", { ...place, delta: toBase64(bytes) });
}

export function finishResponse(draft: Draft, status: "completed" | "cancelled"): void {
  const { response } = draft.state;
  if (!response) return;
  const { itemId, turnId } = response;
  if (itemId !== null && turnId !== null) {
    if (!response.hasWholeText) tellWholeText(draft, turnId);
    const itemStatus = status === "completed" ? "completed" : "incomplete";
    const item = changeItem(draft, itemId, { status: itemStatus });
    if (item) finishItem(draft, placeOf(response.id, itemId), item);
  }
  update(draft, { response: null });
  emit(draft, "response.done", { response: responseView(draft, response, status) });
}

function finishItem(draft: Draft, place: Place, item: Item): void {
  const { content_index: _, ...output } = place;
  if (item.isAudio) emit(draft, "response.output_audio.done", { ...place });
  emit(draft, "response.content_part.done", { ...place, part: partView(item) });
  emit(draft, "response.output_item.done", { ...output, item: itemView(item) });
  doneItem(draft, item);
}

function tellWholeText(draft: Draft, turnId: number): void {
  const { place, item, response } = itemOf(draft, turnId);
  const text = findItem(draft.state, item.id)?.text ?? "";
  if (item.isAudio)
    emit(draft, "response.output_audio_transcript.done", { ...place, transcript: text });
  else emit(draft, "response.output_text.done", { ...place, text });
  update(draft, { response: { ...response, hasWholeText: true } });
}

/** The item of a turn, which begins with the first that is known of it. */
function itemOf(draft: Draft, turnId: number): { place: Place; item: Item; response: Response } {
  const before = draft.state.response?.turnId;
  if (typeof before === "number" && before !== turnId) finishResponse(draft, "cancelled");
  const response = openResponse(draft);
  const known = response.itemId === null ? null : findItem(draft.state, response.itemId);
  if (known) return { place: placeOf(response.id, known.id), item: known, response };
  const item: Item = {
    id: newId(draft, "item"),
    role: "assistant",
    isAudio: draft.state.modality === "audio",
    turnId,
    text: "",
    status: "in_progress",
    isTruncated: false,
  };
  const begun = { ...response, itemId: item.id, turnId };
  update(draft, { response: begun });
  const place = placeOf(response.id, item.id);
  const { content_index: _, ...output } = place;
  emit(draft, "response.output_item.added", { ...output, item: itemView(item) });
  addItem(draft, item);
  emit(draft, "response.content_part.added", { ...place, part: partView(item) });
  return { place, item, response: begun };
}

function placeOf(responseId: string, itemId: string): Place {
  return { response_id: responseId, item_id: itemId, output_index: 0, content_index: 0 };
}

function partView({ isAudio, text }: Item) {
  return isAudio ? { type: "audio", transcript: text } : { type: "text", text };
}

function responseView(draft: Draft, response: Response, status: string) {
  const { modality, output } = draft.state;
  const item = response.itemId === null ? null : findItem(draft.state, response.itemId);
  return {
    object: "realtime.response",
    id: response.id,
    status,
    status_details: status === "cancelled" ? { type: "cancelled", reason: "turn_detected" } : null,
    output: item ? [itemView(item)] : [],
    output_modalities: [modality],
    audio: { output: { format: formatView(output), voice: "agent" } },
    metadata: null,
    usage: null,
  };
}
