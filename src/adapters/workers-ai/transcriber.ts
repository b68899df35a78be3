import type { Transcriber } from "../../ports/transcriber.ts";
import { fluxDialect, fluxQuery } from "../deepgram/flux.ts";
import { endpointingMs, listenDialect, listenQuery } from "../deepgram/transcriber.ts";
import { openSocket, startSession } from "../transcription.ts";
import type { WorkersAi } from "./binding.ts";

export type WorkersAiTranscriberOptions = {
  ai: WorkersAi;
  model: string;
  connectTimeoutMs: number;
};

/** Deepgram's Flux on Workers AI. It hears English only. */
export function workersAiFlux(options: WorkersAiTranscriberOptions): Transcriber {
  return {
    async open({ sampleRate, onEvent }) {
      const socket = await connect(options, fluxQuery(sampleRate));
      return startSession(socket, onEvent, fluxDialect(sampleRate));
    },
  };
}

/** Deepgram's Nova on Workers AI. */
export function workersAiNova(options: WorkersAiTranscriberOptions): Transcriber {
  return {
    silenceMs: endpointingMs,
    async open(wanted) {
      const socket = await connect(options, listenQuery(wanted));
      return startSession(socket, wanted.onEvent, listenDialect());
    },
  };
}

function connect(
  { ai, model, connectTimeoutMs }: WorkersAiTranscriberOptions,
  inputs: Record<string, string>,
): Promise<WebSocket> {
  return openSocket(
    (signal) => ai.run(model, inputs, { websocket: true, signal }),
    connectTimeoutMs,
  );
}
