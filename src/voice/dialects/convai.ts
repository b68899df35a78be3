import type { AudioFormat } from "../audio/format.ts";
import type { ClientMessage, ClientMessageError, Dialect, ServerMessage } from "./dialect.ts";
import {
  error,
  type JsonObject,
  objectIn,
  parseObject,
  readBase64,
  readUserText,
  toBase64,
} from "./reading.ts";

const audio: AudioFormat = { encoding: "pcm16", sampleRate: 16_000 };
const FORMAT_NAME = "pcm_16000";
/** No timer of its own: a ping goes out with what is said anyway, so that a silent call may sleep. */
const PING_EVERY_MS = 5_000;
/** Sent by clients, and without meaning here. */
const IGNORED: unknown[] = [
  "user_activity",
  "contextual_update",
  "feedback",
  "client_tool_result",
  "mcp_tool_approval_result",
];

export type ConvaiState = {
  isOpened: boolean;
  textOnly: boolean;
  /** The reply as it is known so far; `isTold`: the client has it whole. */
  reply: { turnId: number; text: string; isTold: boolean } | null;
  pings: number;
  pingedAt: number;
  /** The last round trip. */
  pingMs: number | null;
};

const initial: ConvaiState = {
  isOpened: false,
  textOnly: false,
  reply: null,
  pings: 0,
  pingedAt: 0,
  pingMs: null,
};

/** The protocol of ElevenLabs Agents over a WebSocket: JSON in text frames, audio as base64. */
export const convai: Dialect<ConvaiState> = {
  name: "convai",
  subprotocol: "convai",
  audio,
  speaksUnasked: true,
  // Its clients always say first what they want.
  startWithinMs: 1_000,
  initial,
  renew: ({ textOnly }) => ({ ...initial, textOnly }),
  read(frame, state, now) {
    const event = typeof frame === "string" ? parseObject(frame) : null;
    if (!event) {
      return { frames: [], messages: [error("bad_json", "A frame must be a JSON object")], state };
    }
    if (event["type"] === "pong") {
      const isLast = event["event_id"] === state.pings;
      return {
        frames: [],
        messages: [],
        state: isLast ? { ...state, pingMs: now - state.pingedAt } : state,
      };
    }
    const message = readEvent(event);
    const textOnly = message?.type === "start" ? message.textOnly : state.textOnly;
    return { frames: [], messages: message ? [message] : [], state: { ...state, textOnly } };
  },
  write(message, state, now) {
    const written = translate(message, state);
    const isDue = written.events.length > 0 && now - state.pingedAt >= PING_EVERY_MS;
    if (!isDue) return { frames: written.events.map(toFrame), state: written.state };
    const { pings, pingMs } = written.state;
    const ping = { type: "ping", ping_event: { event_id: pings + 1, ping_ms: pingMs } };
    return {
      frames: [...written.events, ping].map(toFrame),
      state: { ...written.state, pings: pings + 1, pingedAt: now },
    };
  },
  speak({ bytes, turnId }, state) {
    const event = { audio_base_64: toBase64(bytes), event_id: turnId };
    return { frames: [toFrame({ type: "audio", audio_event: event })], state };
  },
};

const toFrame = (event: JsonObject) => JSON.stringify(event);

function readEvent(event: JsonObject): ClientMessage | ClientMessageError | null {
  if ("user_audio_chunk" in event) {
    const bytes = readBase64(event["user_audio_chunk"]);
    return bytes
      ? { type: "audio", bytes }
      : error("bad_message", "user_audio_chunk must be base64");
  }
  const type = event["type"];
  switch (type) {
    case "conversation_initiation_client_data":
      return readStart(event);
    case "user_message":
      return readUserText("user_message: text", event["text"]);
    case "multimodal_message":
      return readUserText("multimodal_message: text.text", objectIn(event, "text")["text"]);
    default:
      return IGNORED.includes(type)
        ? null
        : error("unknown_type", "This type of event is not known");
  }
}

/** Of all overrides only `text_only` counts: what an agent says is for its owner to decide. */
function readStart(event: JsonObject): ClientMessage {
  const overrides = objectIn(event, "conversation_config_override");
  const textOnly = objectIn(overrides, "conversation")["text_only"] === true;
  return { type: "start", audio: textOnly ? null : audio, input: null, textOnly };
}

type Translated = { events: JsonObject[]; state: ConvaiState };

function translate(message: ServerMessage, state: ConvaiState): Translated {
  const telling = (...events: JsonObject[]): Translated => ({ events, state });
  switch (message.type) {
    case "ready":
      return state.isOpened
        ? telling()
        : { events: [metadata(message.call_id)], state: { ...state, isOpened: true } };
    case "user_transcript":
      return telling(userTranscript(message));
    case "agent_text":
      return message.final
        ? tellWhole(message.turn_id, message.text, state)
        : tellPart(message.turn_id, message.delta, state);
    case "clear":
      // The client drops audio of a lower id: this reply's, and not the next one's.
      return telling({
        type: "interruption",
        interruption_event: { event_id: message.turn_id + 1 },
      });
    case "interruption":
      return correct(message.turn_id, message.heard_text, state);
    case "error":
      return telling({
        type: "error",
        error_event: { code: 1008, error_type: "invalid_message", message: message.message },
      });
    default:
      return telling();
  }
}

function metadata(callId: string): JsonObject {
  return {
    type: "conversation_initiation_metadata",
    conversation_initiation_metadata_event: {
      conversation_id: callId,
      agent_output_audio_format: FORMAT_NAME,
      user_input_audio_format: FORMAT_NAME,
    },
  };
}

function userTranscript(message: { turn_id: number; text: string; final: boolean }): JsonObject {
  const event = { user_transcript: message.text, event_id: message.turn_id };
  return message.final
    ? { type: "user_transcript", user_transcription_event: event }
    : { type: "tentative_user_transcript", tentative_user_transcription_event: event };
}

/** Text clients see a reply grow; the others have its sound. */
function tellPart(turnId: number, text: string, state: ConvaiState): Translated {
  const before = state.reply?.turnId === turnId ? state.reply.text : null;
  const reply = { turnId, text: (before ?? "") + text, isTold: false };
  const begin = before === null ? [chatPart("start", turnId)] : [];
  const events = state.textOnly ? [...begin, chatPart("delta", turnId, text)] : [];
  return { events, state: { ...state, reply } };
}

function tellWhole(turnId: number, text: string, state: ConvaiState): Translated {
  const hasParts = state.textOnly && state.reply?.turnId === turnId;
  return {
    events: [...(hasParts ? [chatPart("stop", turnId)] : []), agentResponse(turnId, text)],
    state: { ...state, reply: { turnId, text, isTold: true } },
  };
}

/** A reply that was cut before it was whole is told as what was heard of it. */
function correct(turnId: number, heard: string, state: ConvaiState): Translated {
  const reply = state.reply?.turnId === turnId ? state.reply : null;
  const cut = { ...state, reply: { turnId, text: heard, isTold: true } };
  if (!reply?.isTold) {
    const { events } = tellWhole(turnId, heard, state);
    return { events: heard === "" ? events.slice(0, -1) : events, state: cut };
  }
  const correction = {
    original_agent_response: reply.text,
    corrected_agent_response: heard,
    event_id: turnId,
  };
  return {
    events: [{ type: "agent_response_correction", agent_response_correction_event: correction }],
    state: cut,
  };
}

function chatPart(type: "start" | "delta" | "stop", turnId: number, text = ""): JsonObject {
  return { type: "agent_chat_response_part", text_response_part: { type, text, event_id: turnId } };
}

function agentResponse(turnId: number, text: string): JsonObject {
  return {
    type: "agent_response",
    agent_response_event: { agent_response: text, event_id: turnId },
  };
}
