import { setTimeout as delay } from "node:timers/promises";
import WebSocket from "ws";
import { bytesFromPcm, concatPcm, durationMs, pcmFromBytes } from "../src/voice/audio/pcm.ts";

export type ServerMessage = { type: string; at: number } & Record<string, unknown>;

/** A caller with a microphone and a loudspeaker, as a browser would be; times are ms. */
export type CallClient = {
  /** All that came as text, in order. */
  messages: ServerMessage[];
  /** Audio that came, with its arrival. */
  audio: { at: number; pcm: Int16Array }[];
  /** Speaks into the microphone in real time; resolves when all of it was sent. */
  say(pcm: Int16Array): Promise<void>;
  send(message: object): void;
  sendRaw(data: string | Uint8Array): void;
  /** The first message after the `from`th that fits; rejects when none comes in time. */
  until(
    fits: (message: ServerMessage) => boolean,
    options?: { from?: number; withinMs?: number },
  ): Promise<ServerMessage>;
  /** Ms of audio that the loudspeaker has played by now. */
  playedMs(): number;
  /** Ms of audio that the loudspeaker has yet to play. */
  unplayedMs(): number;
  close(code?: number): void;
  /** Breaks the line without a word. */
  cut(): void;
  closed: Promise<{ code: number; reason: string }>;
};

const FRAME_MS = 20;

export async function joinCall(
  url: string,
  options: { sampleRate?: number; microphone?: boolean; echoMarks?: boolean } = {},
): Promise<CallClient> {
  const { sampleRate = 16_000, microphone = true, echoMarks = true } = options;
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const messages: ServerMessage[] = [];
  const audio: CallClient["audio"] = [];
  const waiting = new Set<() => void>();
  const speaker = loudspeaker((name) => socket.send(JSON.stringify({ type: "mark", name })));
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on("close", (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  socket.on("message", (data: Buffer, isBinary) => {
    const at = Date.now();
    if (isBinary) {
      const pcm = pcmFromBytes(data);
      audio.push({ at, pcm });
      speaker.play(durationMs(pcm.length, sampleRate));
    } else {
      const message = { ...JSON.parse(data.toString()), at } as ServerMessage;
      messages.push(message);
      if (message.type === "mark" && echoMarks) speaker.mark(String(message["name"]));
      if (message.type === "clear") speaker.clear();
      for (const check of waiting) check();
    }
  });
  await new Promise((resolve, reject) => {
    socket.on("open", resolve);
    socket.on("error", reject);
  });
  const mouth = microphone ? openMicrophone(socket, sampleRate) : null;
  return {
    messages,
    audio,
    closed,
    say: (pcm) => mouth?.say(pcm) ?? Promise.reject(new Error("this client has no microphone")),
    send: (message) => socket.send(JSON.stringify(message)),
    sendRaw: (data) => socket.send(data),
    playedMs: speaker.playedMs,
    unplayedMs: speaker.unplayedMs,
    close: (code = 1000) => socket.close(code),
    cut: () => socket.terminate(),
    until: (fits, { from = 0, withinMs = 15_000 } = {}) => {
      const { promise, resolve, reject } = Promise.withResolvers<ServerMessage>();
      const came = () => messages.slice(from).map((message) => message.type);
      const check = () => {
        const found = messages.slice(from).find(fits);
        if (found) resolve(found);
      };
      const timer = setTimeout(() => reject(new Error(`not in time; came: ${came()}`)), withinMs);
      void closed.then(({ code }) => reject(new Error(`closed with ${code}; came: ${came()}`)));
      waiting.add(check);
      check();
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(check);
      });
    },
  };
}

/** Sends a frame every 20 ms, by the clock: speech while there is some, else silence. */
function openMicrophone(socket: WebSocket, sampleRate: number) {
  const samples = (sampleRate * FRAME_MS) / 1000;
  const silence = new Int16Array(samples);
  const queue: { frames: Int16Array[]; done(): void; broken(error: Error): void }[] = [];
  const next = (): Int16Array => {
    const speech = queue[0];
    const frame = speech?.frames.shift();
    if (speech && speech.frames.length === 0) {
      queue.shift();
      speech.done();
    }
    return frame ?? silence;
  };
  async function run() {
    const began = performance.now();
    for (let frame = 1; socket.readyState === WebSocket.OPEN; frame++) {
      socket.send(bytesFromPcm(next()));
      await delay(Math.max(0, began + frame * FRAME_MS - performance.now()));
    }
    for (const { broken } of queue.splice(0)) broken(new Error("the line is closed"));
  }
  void run();
  return {
    say: (pcm: Int16Array) =>
      new Promise<void>((done, broken) => {
        const frames: Int16Array[] = [];
        for (let at = 0; at < pcm.length; at += samples) {
          frames.push(concatPcm([pcm.subarray(at, at + samples), silence]).subarray(0, samples));
        }
        queue.push({ frames, done, broken });
      }),
  };
}

/** Plays what comes, without gaps where it can, and says of each mark when it was played. */
function loudspeaker(onMark: (name: string) => void) {
  let endsAt = 0;
  let received = 0;
  let pending: NodeJS.Timeout[] = [];
  const unplayedMs = () => Math.max(0, endsAt - Date.now());
  return {
    unplayedMs,
    playedMs: () => received - unplayedMs(),
    play(ms: number) {
      endsAt = Date.now() + unplayedMs() + ms;
      received += ms;
    },
    mark(name: string) {
      pending.push(setTimeout(() => onMark(name), unplayedMs()));
    },
    clear() {
      received -= unplayedMs();
      endsAt = 0;
      for (const timer of pending) clearTimeout(timer);
      pending = [];
    },
  };
}
