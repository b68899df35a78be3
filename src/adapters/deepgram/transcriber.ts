import * as z from "zod";
import { type FailureCode, PortError } from "../../ports/failure.ts";
import type {
  Transcriber,
  TranscriberEvent,
  TranscriberOptions,
  TranscriberSession,
} from "../../ports/transcriber.ts";
import { codeOf } from "../request.ts";

export type DeepgramOptions = {
  /** `https://api.deepgram.com`; http(s), though it becomes a WebSocket. */
  baseUrl: string;
  apiKey: string;
  model: string;
  connectTimeoutMs: number;
};

/** Silence after which the vendor takes an utterance for finished. */
const endpointingMs = 200;
/** When noise hides that silence: no new word for so long. The vendor's least. */
const utteranceEndMs = 1000;
/** The vendor hangs up after 10 s without audio; looked at twice within them. */
const keepAliveMs = 4000;

/** Deepgram's live transcription (v1). */
export function deepgramTranscriber(options: DeepgramOptions): Transcriber {
  return {
    silenceMs: endpointingMs,
    async open(wanted) {
      const socket = await connect(options, wanted);
      return startSession(socket, wanted.onEvent);
    },
  };
}

async function connect(
  { baseUrl, apiKey, model, connectTimeoutMs }: DeepgramOptions,
  { sampleRate, language }: TranscriberOptions,
): Promise<WebSocket> {
  const query = new URLSearchParams({
    model,
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
  });
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), connectTimeoutMs);
  try {
    const response = await fetch(`${baseUrl}/v1/listen?${query}`, {
      headers: { upgrade: "websocket", authorization: `Token ${apiKey}` },
      signal: late.signal,
    });
    if (response.webSocket) return response.webSocket;
    await response.body?.cancel();
    throw new PortError(codeOf(response.status));
  } catch (error) {
    if (error instanceof PortError) throw error;
    throw new PortError(late.signal.aborted ? "timeout" : "unavailable");
  } finally {
    clearTimeout(timer);
  }
}

function startSession(
  socket: WebSocket,
  onEvent: (event: TranscriberEvent) => void,
): TranscriberSession {
  let open = true;
  let fed = false;
  const turn = createTurn();

  const keepAlive = setInterval(() => {
    if (!fed) socket.send(JSON.stringify({ type: "KeepAlive" }));
    fed = false;
  }, keepAliveMs);
  const stop = () => {
    open = false;
    clearInterval(keepAlive);
  };
  const lose = (code: FailureCode) => {
    if (!open) return;
    stop();
    onEvent({ type: "lost", code });
  };

  socket.binaryType = "arraybuffer";
  socket.addEventListener("message", ({ data }) => {
    if (!open) return;
    const message = parse(data);
    if (message) {
      for (const event of turn(message)) onEvent(event);
    } else {
      socket.close(1002);
      lose("garbled");
    }
  });
  socket.addEventListener("close", () => lose("unavailable"));
  socket.addEventListener("error", () => lose("unavailable"));
  socket.accept();

  return {
    feed(pcm) {
      if (!open) return;
      fed = true;
      socket.send(pcm);
    },
    close() {
      if (!open) return;
      stop();
      socket.send(JSON.stringify({ type: "CloseStream" }));
      socket.close(1000);
    },
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

function parse(data: unknown): Message | undefined {
  try {
    return messageShape.parse(JSON.parse(String(data)));
  } catch {
    return undefined;
  }
}
