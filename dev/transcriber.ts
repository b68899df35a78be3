import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type WebSocket, WebSocketServer } from "ws";
import * as z from "zod";
import { decodeMulaw } from "../src/voice/audio/mulaw.ts";
import { createPcmReader } from "../src/voice/audio/pcm.ts";
import { createScript, type Script, stepShape } from "./script.ts";
import type { Recorder, StandIn } from "./stand-in.ts";
import { type FluxServing, fluxQueryShape, serveFlux } from "./transcriber/flux.ts";
import { createListener, type Heard } from "./transcriber/listener.ts";
import { sendJson } from "./world/http.ts";

/** What the next session shall do; `match` is looked for in the query of the handshake. */
export type ScriptedSession = z.infer<typeof sessionShape>;

const sessionShape = z.strictObject({
  ...stepShape,
  /** Drops the line after so much audio. */
  dropAfterMs: z.number().nonnegative().optional(),
  /** Flux only: takes a turn for finished once so many words are there, back at the next. */
  eagerAfterWords: z.int().positive().optional(),
  /** Flux only: fails after so much audio, as the vendor says it. */
  errorAfterMs: z.number().nonnegative().optional(),
});

const queryShape = z.object({
  model: z.string().default("base-general"),
  language: z.string().default("en"),
  encoding: z.enum(["linear16", "mulaw"]),
  sample_rate: z.coerce.number().int().min(8000).max(48000),
  interim_results: z.stringbool().default(false),
  vad_events: z.stringbool().default(false),
  endpointing: z.coerce.number().int().nonnegative().default(200),
  utterance_end_ms: z.coerce.number().int().min(1000).optional(),
});
type Query = z.infer<typeof queryShape>;

export type Handshake = {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
  /** The vendor's path and query, whoever passed them on. */
  url: URL;
  /** Passed on by Workers AI, which has asked for no key. */
  viaWorkersAi: boolean;
};

export type TranscriberStandIn = StandIn & {
  script: Script<ScriptedSession>;
  join(handshake: Handshake): void;
};

/**
 * Speech to text that speaks Deepgram's live v1 (`GET /v1/listen`) and Flux (`GET /v2/listen`). It
 * reads the text carried in the sound, see carried-text.ts; any other voice becomes "[speech without
 * carried text]". `POST /script { sessions: [...] }` decides the next sessions. Records `transcriber`
 * with an `event`: `open`, `final`, each control message, `close`.
 */
export function transcriberStandIn({ record }: { record: Recorder }): TranscriberStandIn {
  const script = createScript("sessions", sessionShape);
  const server = new WebSocketServer({ noServer: true });
  const leaving = new AbortController();

  const serving = async ({ request, socket, head, url, viaWorkersAi }: Handshake) => {
    const step = script.next(url.search) ?? {};
    await sleep(step.delayMs ?? 0, undefined, { signal: leaving.signal }).catch(() => undefined);
    if (socket.destroyed) return;
    const route = routes[url.pathname];
    if (!route) return refuse(socket, 404, "NOT_FOUND");
    if (!viaWorkersAi && !/^Token \S+$/.test(request.headers.authorization ?? "")) {
      return refuse(socket, 401, "INVALID_AUTH");
    }
    const query = Object.fromEntries(url.searchParams);
    const serve = route(query, { ...step, record, untyped: viaWorkersAi });
    if (!serve) return refuse(socket, 400, "Bad Request");
    if (step.status !== undefined) return refuse(socket, step.status, "scripted");
    server.handleUpgrade(request, socket, head, serve);
  };
  const join = (handshake: Handshake) => {
    // Nothing else listens yet, and a reset socket would end the process.
    handshake.socket.on("error", () => handshake.socket.destroy());
    void serving(handshake);
  };

  return {
    name: "transcriber",
    script,
    handle(request, response, path) {
      if (path === "/script") return script.handle(request, response);
      return sendJson(response, 404, {
        err_code: "NOT_FOUND",
        err_msg: "Only live streams are served.",
      });
    },
    join,
    upgrade(request, socket, head, path) {
      const url = new URL(path, "http://transcriber");
      join({ request, socket, head, url, viaWorkersAi: false });
    },
    close() {
      leaving.abort();
      for (const client of server.clients) client.terminate();
      server.close();
    },
  };
}

type Route = (
  query: Record<string, string>,
  serving: FluxServing,
) => ((client: WebSocket) => void) | undefined;

const routes: Record<string, Route> = {
  "/v1/listen"(query, serving) {
    const { data } = queryShape.safeParse(query);
    return data && ((client) => serve(client, data, serving));
  },
  "/v2/listen"(query, serving) {
    const { data } = fluxQueryShape.safeParse(query);
    return data && ((client) => serveFlux(client, data, serving));
  },
};

type Serving = Pick<FluxServing, "record" | "dropAfterMs">;

function serve(client: WebSocket, query: Query, { record, dropAfterMs }: Serving): void {
  const { sample_rate: sampleRate, encoding, model, language } = query;
  const listener = createListener({
    sampleRate,
    endpointingMs: query.endpointing,
    utteranceEndMs: query.utterance_end_ms,
  });
  const pcm = createPcmReader();
  let samples = 0;
  const note = (event: unknown, more = {}) => record("transcriber", { event, model, ...more });
  note("open", { language, encoding, sampleRate });

  const tell = (heard: readonly Heard[], finalized = false) => {
    for (const each of heard) {
      if (each.type === "segment") note("final", { text: each.text });
      const message = messageFor(each, query, finalized);
      if (message) client.send(JSON.stringify(message));
    }
  };
  const control = (type: unknown) => {
    note(type);
    if (type === "Finalize") return tell(listener.flush(), true);
    if (type !== "CloseStream") return;
    tell(listener.flush());
    client.send(JSON.stringify(metadata(samples / sampleRate)));
    client.close(1000);
  };
  client.on("message", (data: Buffer, isBinary) => {
    if (!isBinary) return control(controlShape.safeParse(data.toString()).data?.type);
    const sound = encoding === "mulaw" ? decodeMulaw(data) : pcm.push(data);
    samples += sound.length;
    tell(listener.push(sound));
    if (dropAfterMs !== undefined && samples * 1000 >= dropAfterMs * sampleRate) client.terminate();
  });
  client.on("close", (code) => note("close", { code, audioMs: (samples * 1000) / sampleRate }));
  client.on("error", () => client.terminate());
}

const controlShape = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue("not JSON");
      return z.NEVER;
    }
  })
  .pipe(z.object({ type: z.string() }));

function messageFor(heard: Heard, query: Query, finalized: boolean): unknown {
  switch (heard.type) {
    case "started":
      return query.vad_events
        ? { type: "SpeechStarted", channel: [0], timestamp: heard.at }
        : undefined;
    case "utterance_end":
      return { type: "UtteranceEnd", channel: [0, 1], last_word_end: heard.lastWordEnd };
    case "partial":
      return query.interim_results ? results(heard, query.model, {}) : undefined;
    case "segment":
      return results(heard, query.model, {
        is_final: true,
        speech_final: heard.last && !finalized,
        from_finalize: finalized,
      });
    default:
      return undefined;
  }
}

type Piece = { text: string; start: number; end: number };
type Finality = { is_final?: boolean; speech_final?: boolean; from_finalize?: boolean };

function results({ text, start, end }: Piece, model: string, finality: Finality) {
  const spoken = text.split(/\s+/);
  const each = (end - start) / spoken.length;
  const words = spoken.map((word, i) => ({
    word: word.toLowerCase().replace(/[^\p{L}\p{M}\p{N}']/gu, ""),
    start: start + i * each,
    end: start + (i + 1) * each,
    confidence: 1,
    punctuated_word: word,
  }));
  return {
    type: "Results",
    channel_index: [0, 1],
    duration: end - start,
    start,
    is_final: false,
    speech_final: false,
    ...finality,
    channel: { alternatives: [{ transcript: text, confidence: 1, words }] },
    metadata: {
      request_id: localId,
      model_info: { name: model, version: "local", arch: "carried-text" },
      model_uuid: localId,
    },
  };
}

const localId = "00000000-0000-4000-8000-000000000000";

function metadata(duration: number) {
  const created = new Date().toISOString();
  const sha256 = "0".repeat(64);
  return {
    type: "Metadata",
    transaction_key: "deprecated",
    request_id: localId,
    sha256,
    created,
    duration,
    channels: 1,
  };
}

function refuse(socket: Duplex, status: number, code: string): void {
  const body = JSON.stringify({ err_code: code, err_msg: "The handshake was refused." });
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
