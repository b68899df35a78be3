import type { AudioFormat } from "../../audio/format.ts";
import type { ClientMessage, ClientMessageError } from "../dialect.ts";
import type { JsonObject } from "../reading.ts";

export type Modality = "audio" | "text";

/** A message of the conversation, by either side. */
export type Item = {
  id: string;
  role: "user" | "assistant";
  isAudio: boolean;
  /** The agent's turn that it is; null for the caller's. */
  turnId: number | null;
  text: string;
  status: "in_progress" | "completed" | "incomplete";
  /** The rest of it was not heard. */
  isTruncated: boolean;
};

export type Response = {
  id: string;
  itemId: string | null;
  /** Null until something of the reply is known. */
  turnId: number | null;
  hasWholeText: boolean;
};

export type RealtimeState = {
  isOpened: boolean;
  /** Something was said or is being answered: formats and modality stand. */
  isBegun: boolean;
  callId: string;
  modality: Modality;
  input: AudioFormat;
  output: AudioFormat;
  /** How many ids were given. */
  ids: number;
  /** How much audio the client has sent. */
  receivedMs: number;
  /** The latest of the conversation, oldest first. */
  items: Item[];
  /** Items the client created and has not asked to be answered. */
  unanswered: { id: string; text: string }[];
  /** The item that is being spoken by the caller. */
  speechItemId: string | null;
  /** The client closed its audio buffer by hand: what it holds is about to be answered. */
  isCommitted: boolean;
  /** What the client's last event asks for; what follows at once is its consequence. */
  cause: "typed" | "stopped" | null;
  response: Response | null;
};

const MAX_ITEMS = 20;
const pcm24: AudioFormat = { encoding: "pcm16", sampleRate: 24_000 };

export const initialState: RealtimeState = {
  isOpened: false,
  isBegun: false,
  callId: "",
  modality: "audio",
  input: pcm24,
  output: pcm24,
  ids: 0,
  receivedMs: 0,
  items: [],
  unanswered: [],
  speechItemId: null,
  isCommitted: false,
  cause: null,
  response: null,
};

/** One translation in the making: the state is replaced, never changed in place. */
export type Draft = {
  state: RealtimeState;
  readonly frames: string[];
  readonly messages: (ClientMessage | ClientMessageError)[];
};

export function draftOf(state: RealtimeState): Draft {
  return { state, frames: [], messages: [] };
}

export function update(draft: Draft, change: Partial<RealtimeState>): void {
  draft.state = { ...draft.state, ...change };
}

export function newId(draft: Draft, prefix: "event" | "item" | "resp"): string {
  update(draft, { ids: draft.state.ids + 1 });
  return `${prefix}_${draft.state.ids}`;
}

export function emit(draft: Draft, type: string, fields: JsonObject = {}): void {
  draft.frames.push(JSON.stringify({ type, event_id: newId(draft, "event"), ...fields }));
}

/** `eventId`: the client's event that is refused. */
export function emitError(
  draft: Draft,
  failure: { code: string; message: string; eventId?: unknown; type?: string },
): void {
  const { code, message, eventId = null, type = "invalid_request_error" } = failure;
  emit(draft, "error", { error: { type, code, message, param: null, event_id: eventId } });
}

/** Adds the item to the conversation, and tells the client where. */
export function addItem(draft: Draft, item: Item): void {
  const previous = lastItemId(draft.state);
  update(draft, { items: [...draft.state.items, item].slice(-MAX_ITEMS) });
  emit(draft, "conversation.item.added", { previous_item_id: previous, item: itemView(item) });
}

export function changeItem(draft: Draft, id: string, change: Partial<Item>): Item | null {
  const items = draft.state.items.map((item) => (item.id === id ? { ...item, ...change } : item));
  update(draft, { items });
  return findItem(draft.state, id);
}

export function doneItem(draft: Draft, item: Item): void {
  const at = draft.state.items.findIndex(({ id }) => id === item.id);
  const previous = draft.state.items.slice(0, at).findLast(isInConversation)?.id ?? null;
  emit(draft, "conversation.item.done", { previous_item_id: previous, item: itemView(item) });
}

export function lastItemId({ items }: RealtimeState): string | null {
  return items.findLast(isInConversation)?.id ?? null;
}

/** A reply of which nothing was heard was never said. */
export function isInConversation({ isTruncated, text }: Item): boolean {
  return !isTruncated || text !== "";
}

export function findItem(state: RealtimeState, id: unknown): Item | null {
  return state.items.find((item) => item.id === id) ?? null;
}

export function itemView({ id, role, status, isAudio, text }: Item): JsonObject {
  const type = role === "user" ? "input" : "output";
  const content = isAudio
    ? { type: `${type}_audio`, transcript: text }
    : { type: `${type}_text`, text };
  const isEmpty = role === "assistant" && status === "in_progress";
  return {
    id,
    object: "realtime.item",
    type: "message",
    status,
    role,
    content: isEmpty ? [] : [content],
  };
}
