import * as z from "zod";
import type { Transcriber, TranscriberEvent } from "../../ports/transcriber.ts";
import { type Dialect, openSocket, startSession } from "../transcription.ts";

export type FluxOptions = {
  /** `https://api.deepgram.com`; http(s), though it becomes a WebSocket. */
  baseUrl: string;
  apiKey: string;
  /** One model knows English best, the other knows all of `fluxLanguages`. */
  models: { english: string; multilingual: string };
  connectTimeoutMs: number;
};

export const fluxLanguages = ["en", "es", "fr", "de", "hi", "ru", "pt", "ja", "it", "nl"];

/** How sure the vendor must be that the caller has finished: to say so early, and for good. */
const eagerConfidence = 0.5;
const endConfidence = 0.7;
/** Silence that ends a turn however unfinished it sounds. */
const endTimeoutMs = 3000;
/** The vendor knows no message that keeps a line open, and hangs up on one it does not know. */
const keepAliveSilenceMs = 1000;

/** Deepgram's conversational recognition (v2), which knows itself when a turn is over. */
export function fluxTranscriber({
  baseUrl,
  apiKey,
  models,
  connectTimeoutMs,
}: FluxOptions): Transcriber {
  return {
    async open({ sampleRate, language, onEvent }) {
      const [code = ""] = language.toLowerCase().split("-");
      const query = new URLSearchParams({
        ...(code === "en"
          ? { model: models.english }
          : { model: models.multilingual, language_hint: code }),
        ...fluxQuery(sampleRate),
      });
      const socket = await openSocket(
        (signal) =>
          fetch(`${baseUrl}/v2/listen?${query}`, {
            headers: { upgrade: "websocket", authorization: `Token ${apiKey}` },
            signal,
          }),
        connectTimeoutMs,
      );
      return startSession(socket, onEvent, fluxDialect(sampleRate));
    },
  };
}

/** What a stream is asked for besides its model; every value is text, whoever serves the model. */
export function fluxQuery(sampleRate: number): Record<string, string> {
  return {
    encoding: "linear16",
    sample_rate: String(sampleRate),
    eager_eot_threshold: String(eagerConfidence),
    eot_threshold: String(endConfidence),
    eot_timeout_ms: String(endTimeoutMs),
  };
}

export function fluxDialect(sampleRate: number): Dialect {
  return {
    read: createTurn(),
    keepAlive: new Int16Array((sampleRate * keepAliveSilenceMs) / 1000),
  };
}

/** `type` is missing where the model is served by another house than its maker's. */
const messageShape = z.object({
  type: z.string().optional(),
  event: z.string().optional(),
  transcript: z.string().optional(),
});

/** Each message tells the whole turn so far; it comes again and again while nothing changes. */
function createTurn(): (message: unknown) => TranscriberEvent[] {
  let said = "";
  let eager = false;
  return (message) => {
    const { type, event, transcript } = messageShape.parse(message);
    // Whatever it is, the vendor closes the stream after it.
    if (type === "Error") return [{ type: "lost", code: "unavailable" }];
    if (event === "StartOfTurn") said = "";
    const before = said;
    said = transcript?.trim() || said;
    const partial: TranscriberEvent[] = said === before ? [] : [{ type: "partial", text: said }];
    switch (event) {
      case "StartOfTurn":
        return [{ type: "speech_started" }, ...partial];
      case "Update":
        return partial;
      case "EagerEndOfTurn":
        eager = said !== "";
        return eager ? [{ type: "eager_end_of_turn", text: said }] : [];
      case "TurnResumed":
        if (!eager) return partial;
        eager = false;
        return [{ type: "turn_resumed" }, ...partial];
      case "EndOfTurn": {
        const text = said;
        said = "";
        eager = false;
        return text ? [{ type: "end_of_turn", text }] : [];
      }
      default:
        return [];
    }
  };
}
