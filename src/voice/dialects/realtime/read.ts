import { audioMs } from "../../audio/format.ts";
import { type JsonObject, objectIn, readBase64, readUserText } from "../reading.ts";
import {
  addItem,
  type Draft,
  doneItem,
  emit,
  emitError,
  findItem,
  isInConversation,
  itemView,
  newId,
  update,
} from "./draft.ts";
import { readSettings, saysHowToBegin, sessionView } from "./settings.ts";

/** A client's event: answered on the spot, or made a message for the session, or both. */
export function readEvent(draft: Draft, event: JsonObject): void {
  update(draft, { cause: null });
  const reader = readers.get(event["type"]);
  if (reader) reader(draft, event);
  else refuse(draft, event, "unknown_type", "This type of event is not supported");
}

const readers = new Map<unknown, (draft: Draft, event: JsonObject) => void>(
  Object.entries({
    "session.update": updateSession,
    "input_audio_buffer.append": appendAudio,
    "input_audio_buffer.commit": (draft) => update(draft, { isCommitted: true }),
    "input_audio_buffer.clear": (draft) => emit(draft, "input_audio_buffer.cleared"),
    "output_audio_buffer.clear": stop,
    "conversation.item.create": createItem,
    "conversation.item.retrieve": retrieveItem,
    "conversation.item.truncate": truncateItem,
    "response.create": createResponse,
    "response.cancel": cancelResponse,
  }),
);

function refuse(draft: Draft, event: JsonObject, code: string, message: string): void {
  emitError(draft, { code, message, eventId: event["event_id"] });
}

/** Once the call has begun its formats stand, and the answer says so. */
function updateSession(draft: Draft, event: JsonObject): void {
  const session = objectIn(event, "session");
  const settings = readSettings(session, draft.state);
  if (!settings) {
    refuse(draft, event, "unsupported_format", "Formats are audio/pcm and audio/pcmu");
    return;
  }
  const { isBegun } = draft.state;
  if (!isBegun) update(draft, settings);
  emit(draft, "session.updated", { session: sessionView(draft.state) });
  if (isBegun || !saysHowToBegin(session)) return;
  const { modality, input, output } = draft.state;
  const textOnly = modality === "text";
  update(draft, { isBegun: true });
  draft.messages.push({ type: "start", audio: textOnly ? null : output, input, textOnly });
}

function appendAudio(draft: Draft, event: JsonObject): void {
  const bytes = readBase64(event["audio"]);
  if (!bytes) {
    refuse(draft, event, "bad_message", "audio must be base64");
    return;
  }
  const { receivedMs, input } = draft.state;
  update(draft, { receivedMs: receivedMs + audioMs(bytes.byteLength, input) });
  draft.messages.push({ type: "audio", bytes });
}

/** What the caller types waits for `response.create`. */
function createItem(draft: Draft, event: JsonObject): void {
  const item = objectIn(event, "item");
  if (item["type"] !== "message" || item["role"] !== "user") {
    refuse(draft, event, "unsupported_item", "Only messages of the user can be added");
    return;
  }
  const parts = Array.isArray(item["content"]) ? (item["content"] as unknown[]) : [];
  const texts = parts.map((part) => Object(part) as JsonObject);
  if (texts.some((part) => part["type"] !== "input_text")) {
    refuse(draft, event, "unsupported_item", "Only input_text can be added");
    return;
  }
  const line = readUserText("item.content", texts.map((part) => part["text"]).join("\n"));
  if (line.type === "error") {
    refuse(draft, event, line.code, line.message);
    return;
  }
  const { text } = line;
  const id = typeof item["id"] === "string" ? item["id"].slice(0, 64) : newId(draft, "item");
  const added = {
    id,
    role: "user",
    isAudio: false,
    turnId: null,
    text,
    status: "completed",
    isTruncated: false,
  } as const;
  addItem(draft, added);
  doneItem(draft, added);
  update(draft, { unanswered: [...draft.state.unanswered, { id, text }] });
}

function retrieveItem(draft: Draft, event: JsonObject): void {
  const item = findItem(draft.state, event["item_id"]);
  if (item && isInConversation(item))
    emit(draft, "conversation.item.retrieved", { item: itemView(item) });
  else refuse(draft, event, "item_not_found", "There is no such item, or it is long past");
}

/** The client stopped playing. Of the reply under way it is an interruption; its end is told then. */
function truncateItem(draft: Draft, event: JsonObject): void {
  const item = findItem(draft.state, event["item_id"]);
  if (item?.role !== "assistant") {
    refuse(draft, event, "item_not_found", "There is no such item of the agent");
    return;
  }
  const last = draft.state.items.findLast(({ role }) => role === "assistant");
  if (!isInConversation(item)) return;
  if (item.isTruncated) {
    emit(draft, "conversation.item.truncated", {
      item_id: item.id,
      content_index: 0,
      audio_end_ms: event["audio_end_ms"],
    });
  } else if (item === last) stop(draft);
}

function createResponse(draft: Draft, event: JsonObject): void {
  const { unanswered, response, isCommitted } = draft.state;
  if (unanswered.length > 0) {
    update(draft, { unanswered: [], cause: "typed", isBegun: true });
    draft.messages.push({
      type: "user_text",
      text: unanswered.map(({ text }) => text).join("\n"),
    });
  } else if (response) {
    const message = "The agent is responding already";
    refuse(draft, event, "conversation_already_has_active_response", message);
  } else if (!isCommitted) {
    refuse(draft, event, "nothing_to_answer", "The caller has said nothing new");
  }
}

function cancelResponse(draft: Draft, event: JsonObject): void {
  const { response } = draft.state;
  const asked = event["response_id"] ?? response?.id;
  if (response && asked === response.id) stop(draft);
  else refuse(draft, event, "response_cancel_not_active", "There is no such response under way");
}

function stop(draft: Draft): void {
  update(draft, { cause: "stopped" });
  draft.messages.push({ type: "interrupt" });
}
