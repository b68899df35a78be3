import type { AudioFormat } from "../audio/format.ts";
import { isSampleRate, sampleRates } from "../audio/resample.ts";
import type { ClientMessage, ClientMessageError, Dialect } from "./dialect.ts";
import { error, isObject, type JsonObject, parseObject, readUserText } from "./reading.ts";

const audio: AudioFormat = { encoding: "pcm16", sampleRate: 16_000 };

/** Ours: messages go out as they are, audio is binary both ways. */
export const native: Dialect<null> = {
  name: "native",
  subprotocol: "voice.v1",
  audio,
  speaksUnasked: false,
  startWithinMs: 300,
  initial: null,
  renew: () => null,
  read: (frame) => ({
    frames: [],
    messages: [typeof frame === "string" ? readText(frame) : { type: "audio", bytes: frame }],
    state: null,
  }),
  write: (message) => ({ frames: [JSON.stringify(message)], state: null }),
  speak: ({ bytes }) => ({ frames: [bytes], state: null }),
};

function readText(text: string): ClientMessage | ClientMessageError {
  const message = parseObject(text);
  if (!message) return error("bad_json", "A text frame must be a JSON object");
  switch (message["type"]) {
    case "start":
      return readStart(message);
    case "user_text":
      return readUserText("user_text: text", message["text"]);
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

function readStart(message: JsonObject): ClientMessage | ClientMessageError {
  const start = { type: "start", input: null, textOnly: message["text_only"] === true } as const;
  const asked = message["audio"];
  if (asked === undefined || asked === null || start.textOnly) return { ...start, audio: null };
  if (!isObject(asked)) return error("bad_message", "start: audio must be an object");
  const { encoding = audio.encoding } = asked;
  const { sampleRate = encoding === "mulaw" ? 8_000 : audio.sampleRate } = asked;
  if (encoding !== "pcm16" && encoding !== "mulaw") {
    return error("bad_message", "start: audio.encoding must be pcm16 or mulaw");
  }
  if (typeof sampleRate !== "number" || !isSampleRate(sampleRate)) {
    return error("bad_message", `start: audio.sampleRate must be one of ${sampleRates.join(", ")}`);
  }
  return { ...start, audio: { encoding, sampleRate } };
}
