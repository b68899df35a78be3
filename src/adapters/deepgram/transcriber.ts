import * as z from "zod";
import type { Transcriber, TranscriberEvent, TranscriberOptions } from "../../ports/transcriber.ts";
import { type Dialect, openSocket, startSession } from "../transcription.ts";

export type DeepgramOptions = {
  /** `https://api.deepgram.com`; http(s), though it becomes a WebSocket. */
  baseUrl: string;
  apiKey: string;
  model: string;
  connectTimeoutMs: number;
};

/** Silence after which the vendor takes an utterance for finished. */
export const endpointingMs = 200;
/** When noise hides that silence: no new word for so long. The vendor's least. */
const utteranceEndMs = 1000;
/** Deepgram's live transcription (v1). */
export function deepgramTranscriber({
  baseUrl,
  apiKey,
  model,
  connectTimeoutMs,
}: DeepgramOptions): Transcriber {
  return {
    silenceMs: endpointingMs,
    async open(wanted) {
      const query = new URLSearchParams({ model, ...listenQuery(wanted) });
      const socket = await openSocket(
        (signal) =>
          fetch(`${baseUrl}/v1/listen?${query}`, {
            headers: { upgrade: "websocket", authorization: `Token ${apiKey}` },
            signal,
          }),
        connectTimeoutMs,
      );
      return startSession(socket, wanted.onEvent, listenDialect());
    },
  };
}

/** What a stream is asked for besides its model; every value is text, whoever serves the model. */
export function listenQuery({
  sampleRate,
  language,
}: Pick<TranscriberOptions, "sampleRate" | "language">): Record<string, string> {
  return {
    language,
    encoding: "linear16",
    sample_rate: String(sampleRate),
    channels: "1",
    interim_results: "true",
    vad_events: "true",
    endpointing: String(endpointingMs),
    utterance_end_ms: String(utteranceEndMs),
    punctuate: "true",
    smart_format: "true",
  };
}

export function listenDialect(): Dialect {
  const turn = createTurn();
  return {
    read: (message) => turn(messageShape.parse(message)),
    keepAlive: JSON.stringify({ type: "KeepAlive" }),
  };
}

/** Collects the final pieces of an utterance until the vendor says that it is over. */
function createTurn(): (message: Message) => TranscriberEvent[] {
  let final: string[] = [];
  const finish = (): TranscriberEvent[] => {
    const text = final.join(" ");
    final = [];
    return text ? [{ type: "end_of_turn", text }] : [];
  };
  return (message) => {
    if (message.type === "SpeechStarted") return [{ type: "speech_started" }];
    if (message.type === "UtteranceEnd") return finish();
    const piece = message.channel?.alternatives?.[0]?.transcript.trim();
    if (message.type !== "Results") return [];
    if (piece && message.is_final) final.push(piece);
    if (message.speech_final) return finish();
    const text = [...final, ...(piece && !message.is_final ? [piece] : [])].join(" ");
    return piece ? [{ type: "partial", text }] : [];
  };
}

/** What is read of a message. `channel` is another thing in every type but `Results`. */
const messageShape = z.object({
  type: z.string(),
  is_final: z.boolean().optional(),
  speech_final: z.boolean().optional(),
  channel: z
    .object({ alternatives: z.array(z.object({ transcript: z.string() })) })
    .optional()
    .catch(undefined),
});
type Message = z.infer<typeof messageShape>;
