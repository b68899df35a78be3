import { isSampleRate } from "../audio/resample.ts";

export type AudioFormat = { encoding: "pcm16" | "mulaw"; sampleRate: number };

export const DEFAULT_AUDIO: AudioFormat = { encoding: "pcm16", sampleRate: 16_000 };

/** How long so many bytes of audio last. */
export function audioMs(bytes: number, { encoding, sampleRate }: AudioFormat): number {
  return (bytes / (encoding === "pcm16" ? 2 : 1) / sampleRate) * 1_000;
}

/** What a client may say in text; audio comes as binary. */
export type ClientMessage =
  | { type: "start"; audio: AudioFormat | null; textOnly: boolean }
  | { type: "user_text"; text: string }
  | { type: "mark"; name: string }
  | { type: "interrupt" }
  | { type: "end" };

export type ClientMessageError = {
  type: "error";
  code: "bad_json" | "unknown_type" | "bad_message";
  message: string;
};

const MAX_TEXT = 10_000;

/** A client's text frame as a message, or the error to send back; the call goes on either way. */
export function readClientMessage(text: string): ClientMessage | ClientMessageError {
  const value = parse(text);
  if (typeof value !== "object" || value === null) {
    return error("bad_json", "A text frame must be a JSON object");
  }
  const message = value as Record<string, unknown>;
  switch (message["type"]) {
    case "start":
      return readStart(message);
    case "user_text":
      return readText(message["text"]);
    case "mark":
      return typeof message["name"] === "string"
        ? { type: "mark", name: message["name"] }
        : error("bad_message", "mark: name must be a string");
    case "interrupt":
      return { type: "interrupt" };
    case "end":
      return { type: "end" };
    default:
      return error("unknown_type", "type must be start, user_text, mark, interrupt or end");
  }
}

function readStart(message: Record<string, unknown>): ClientMessage | ClientMessageError {
  const textOnly = message["text_only"] === true;
  const audio = message["audio"];
  if (audio === undefined || audio === null) return { type: "start", audio: null, textOnly };
  const { encoding = "pcm16", sampleRate = DEFAULT_AUDIO.sampleRate } = Object(audio) as Record<
    string,
    unknown
  >;
  if (encoding !== "pcm16" && encoding !== "mulaw") {
    return error("bad_message", "start: audio.encoding must be pcm16 or mulaw");
  }
  if (typeof sampleRate !== "number" || !isSampleRate(sampleRate)) {
    return error("bad_message", "start: audio.sampleRate is not supported");
  }
  return { type: "start", audio: { encoding, sampleRate }, textOnly };
}

function readText(text: unknown): ClientMessage | ClientMessageError {
  if (typeof text !== "string" || text.trim() === "" || text.length > MAX_TEXT) {
    return error("bad_message", `user_text: text must be a string of 1 to ${MAX_TEXT} characters`);
  }
  if (!text.isWellFormed() || text.includes("\0")) {
    return error("bad_message", "user_text: text must be well-formed Unicode without NUL");
  }
  return { type: "user_text", text };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function error(code: ClientMessageError["code"], message: string): ClientMessageError {
  return { type: "error", code, message };
}
