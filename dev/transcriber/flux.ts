import type { WebSocket } from "ws";
import * as z from "zod";
import { decodeMulaw } from "../../src/voice/audio/mulaw.ts";
import { createPcmReader } from "../../src/voice/audio/pcm.ts";
import type { Recorder } from "../stand-in.ts";
import { createListener, type Heard } from "./listener.ts";

export const fluxQueryShape = z.object({
  model: z.string(),
  language_hint: z.string().optional(),
  encoding: z.enum(["linear16", "mulaw"]),
  sample_rate: z.coerce.number().int().min(8000).max(48000),
  /** Without it nothing is said early. */
  eager_eot_threshold: z.coerce.number().min(0.3).max(0.9).optional(),
  eot_threshold: z.coerce.number().min(0.5).max(1).default(0.7),
  eot_timeout_ms: z.coerce.number().int().min(500).max(60_000).default(5000),
});
export type FluxQuery = z.infer<typeof fluxQueryShape>;

export type FluxServing = {
  record: Recorder;
  dropAfterMs?: number | undefined;
  /** Takes a turn for finished once so many words are there, and takes it back at the next. */
  eagerAfterWords?: number | undefined;
  /** Fails after so much audio, as the vendor says it. */
  errorAfterMs?: number | undefined;
  /** As Workers AI passes it on: without the type. */
  untyped: boolean;
};

/** Silence after which a turn is probably over, and after which it is. */
const eagerMs = 150;
const endMs = 300;

/** Deepgram's v2, `GET /v2/listen`. */
export function serveFlux(client: WebSocket, query: FluxQuery, serving: FluxServing): void {
  const { sample_rate: sampleRate, encoding, model, language_hint: language = "en" } = query;
  const { record, untyped, dropAfterMs, errorAfterMs } = serving;
  const eager = query.eager_eot_threshold !== undefined;
  const listener = createListener({
    sampleRate,
    endpointingMs: endMs,
    pauseMs: eager ? eagerMs : undefined,
  });
  const pcm = createPcmReader();
  const turns = createTurns(eager ? serving.eagerAfterWords : undefined);
  let samples = 0;
  let sequence = 0;
  const note = (event: unknown, more = {}) => record("transcriber", { event, model, ...more });
  const send = (type: string, message: Record<string, unknown>) => {
    const named = untyped ? message : { type, ...message };
    client.send(JSON.stringify({ ...named, request_id: localId, sequence_id: sequence }));
    sequence += 1;
  };
  const fail = (code: string) => {
    send("Error", {
      code,
      description: "The stream cannot go on.",
      ...(untyped && { type: "Error" }),
    });
    client.close(1011);
  };
  const tell = (heard: readonly Heard[], trigger = "model") => {
    for (const turn of heard.flatMap(turns)) {
      if (turn.event === "EndOfTurn") note("final", { text: turn.transcript });
      const more = turn.event === "EndOfTurn" ? { trigger } : {};
      send("TurnInfo", { ...turn, ...more, audio_window_end: samples / sampleRate });
    }
  };
  note("open", { language, encoding, sampleRate });
  send("Connected", {});
  client.on("message", (data: Buffer, isBinary) => {
    if (!isBinary) {
      const type = typeOf(data.toString());
      note(type);
      if (type === "ForceEndTurn") return tell(listener.flush(), "manual");
      if (type !== "CloseStream") return fail("UNPARSABLE_CLIENT_MESSAGE");
      tell(listener.flush(), "manual");
      return client.close(1000);
    }
    const sound = encoding === "mulaw" ? decodeMulaw(data) : pcm.push(data);
    samples += sound.length;
    tell(listener.push(sound));
    const reached = (ms: number | undefined) =>
      ms !== undefined && samples * 1000 >= ms * sampleRate;
    if (reached(errorAfterMs)) return fail("INTERNAL_SERVER_ERROR");
    if (reached(dropAfterMs)) client.terminate();
  });
  client.on("close", (code) => note("close", { code, audioMs: (samples * 1000) / sampleRate }));
  client.on("error", () => client.terminate());
}

function typeOf(text: string): unknown {
  try {
    return JSON.parse(text).type;
  } catch {
    return undefined;
  }
}

type TurnEvent = "StartOfTurn" | "Update" | "EagerEndOfTurn" | "TurnResumed" | "EndOfTurn";

/** What was heard as the events of turns. A turn begins with its first word, not with a sound. */
function createTurns(eagerAfterWords: number | undefined) {
  let index = 0;
  let finished: string[] = [];
  let transcript = "";
  let eager = false;
  const info = (event: TurnEvent, confidence: number) => ({
    event,
    turn_index: index,
    audio_window_start: 0,
    transcript,
    words: transcript
      .split(" ")
      .filter(Boolean)
      .map((word) => ({ word, confidence: 1 })),
    end_of_turn_confidence: confidence,
  });
  const take = (text: string) => {
    const isFirst = transcript === "";
    transcript = [...finished, text].join(" ");
    const words = transcript.split(" ").length;
    const next = info(isFirst ? "StartOfTurn" : eager ? "TurnResumed" : "Update", 0.1);
    eager = words === eagerAfterWords;
    return eager ? [next, info("EagerEndOfTurn", 0.6)] : [next];
  };
  const end = () => {
    const ended = info("EndOfTurn", 0.9);
    index += 1;
    finished = [];
    transcript = "";
    eager = false;
    return ended;
  };
  return (heard: Heard) => {
    switch (heard.type) {
      case "partial":
        return take(heard.text);
      case "paused":
        if (eager) return [];
        eager = true;
        return [info("EagerEndOfTurn", 0.6)];
      case "resumed":
        if (!eager) return [];
        eager = false;
        return [info("TurnResumed", 0.1)];
      case "segment": {
        const before = transcript === "" ? take(heard.text) : [];
        finished.push(heard.text);
        transcript = finished.join(" ");
        return heard.last ? [...before, end()] : before;
      }
      default:
        return [];
    }
  };
}

const localId = "00000000-0000-4000-8000-000000000000";
