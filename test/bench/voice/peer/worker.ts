import { Agent, routeAgentRequest } from "agents";
import {
  type Transcriber,
  type TranscriberSession,
  type TranscriberSessionOptions,
  type TTSProvider,
  type VoiceTurnContext,
  withVoice,
} from "agents/voice";

type Bindings = { STAND_INS: string; Peer: DurableObjectNamespace<Peer> };

const VoiceAgent = withVoice(Agent<Bindings>, { audioFormat: "pcm16", sampleRate: 16_000 });

/**
 * The other engine, used as its documentation shows. Its three parts make the same requests to the
 * same stand-ins as the service's adapters do, with the least code that can: no deadlines, no
 * validation, no retries.
 */
export class Peer extends VoiceAgent {
  override transcriber: Transcriber = {
    createSession: (options) => listen(this.env.STAND_INS, options ?? {}),
  };
  override tts: TTSProvider = {
    synthesize: async (text, signal) =>
      (await speak(this.env.STAND_INS, text, signal)).arrayBuffer(),
    synthesizeStream: (text: string, signal?: AbortSignal) =>
      pieces(this.env.STAND_INS, text, signal),
  } as TTSProvider;

  override async onTurn(transcript: string, context: VoiceTurnContext) {
    const messages = [...context.messages, { role: "user", content: transcript }];
    return think(this.env.STAND_INS, messages, context.signal);
  }
}

export default {
  fetch: async (request: Request, env: Bindings) =>
    (await routeAgentRequest(request, env)) ?? new Response(null, { status: 404 }),
};

function listen(base: string, options: TranscriberSessionOptions): TranscriberSession {
  let socket: WebSocket | null = null;
  let kept: ArrayBuffer[] = [];
  const ready = fetch(`${base}/v1/listen`, { headers: { upgrade: "websocket" } }).then(
    ({ webSocket }) => {
      if (!webSocket) throw new Error("The recogniser's stand-in refused");
      webSocket.addEventListener("message", ({ data }) => {
        const message = JSON.parse(String(data));
        if (message.type === "SpeechStarted") options.onSpeechStart?.();
        if (message.speech_final) options.onUtterance?.(message.channel.alternatives[0].transcript);
      });
      webSocket.accept();
      for (const chunk of kept) webSocket.send(chunk);
      kept = [];
      socket = webSocket;
    },
  );
  return {
    feed: (chunk) => {
      if (socket) socket.send(chunk);
      else kept.push(chunk);
    },
    close: () => socket?.close(1000),
    waitUntilReady: () => ready,
  };
}

async function* think(
  base: string,
  messages: { role: string; content: string }[],
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { body } = await fetch(`${base}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "bench", messages, stream: true }),
    signal,
  });
  if (!body) throw new Error("The model's stand-in refused");
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (!line.startsWith("data: ") || line === "data: [DONE]") continue;
      const { content } = JSON.parse(line.slice("data: ".length)).choices[0].delta;
      if (content) yield content;
    }
  }
}

const speak = (base: string, text: string, signal?: AbortSignal) =>
  fetch(`${base}/v1/text-to-speech/bench/stream?output_format=pcm_16000`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text }),
    ...(signal ? { signal } : {}),
  });

async function* pieces(
  base: string,
  text: string,
  signal?: AbortSignal,
): AsyncGenerator<ArrayBuffer> {
  const { body } = await speak(base, text, signal);
  if (!body) throw new Error("The voice's stand-in refused");
  for await (const bytes of body) {
    yield bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  }
}
