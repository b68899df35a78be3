import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { parentPort } from "node:worker_threads";
import { WebSocketServer } from "ws";
import { lines, markOf, SAMPLE_RATE } from "./script.ts";

/**
 * Recogniser, model and voice that answer at once, for both engines alike. They run in a thread of
 * their own, so that callers and stand-ins do not wait for each other.
 */
const PIECE_MS = 100;
const bytesOf = (ms: number) => (ms * SAMPLE_RATE * 2) / 1_000;

const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
sockets.on("connection", (socket) => {
  socket.on("message", (data: Buffer, isBinary) => {
    const mark = isBinary ? markOf(data) : null;
    if (mark?.type === "speech_started") socket.send('{"type":"SpeechStarted"}');
    if (mark?.type === "end_of_turn") {
      const channel = { alternatives: [{ transcript: lines[mark.line]?.asked ?? "" }] };
      const final = { type: "Results", is_final: true, speech_final: true, channel };
      socket.send(JSON.stringify(final));
    }
  });
});

const server = createServer((request, response) => {
  void textOf(request).then((body) =>
    request.url?.startsWith("/v1/chat/completions")
      ? think(JSON.parse(body), response)
      : speak(JSON.parse(body), response),
  );
});
server.keepAliveTimeout = 600_000;
server.on("upgrade", (request, socket, head) => {
  sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit("connection", opened));
});
server.listen(0, "127.0.0.1", () => {
  parentPort?.postMessage((server.address() as AddressInfo).port);
});

function think({ messages }: { messages: { content: string }[] }, response: ServerResponse): void {
  const asked = messages.at(-1)?.content;
  const { answered } = lines.find((line) => line.asked === asked) ?? lines[0];
  const send = (delta: object, finish_reason: string | null = null) =>
    response.write(
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
    );
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const content of answered.match(/\s*\S+/g) ?? []) send({ content });
  send({}, "stop");
  response.end("data: [DONE]\n\n");
}

async function speak({ text }: { text: string }, response: ServerResponse): Promise<void> {
  const { ms, paced } = lines.find((line) => line.answered === text.trim()) ?? lines[0];
  response.writeHead(200, { "content-type": "audio/pcm" });
  if (!paced) {
    response.end(Buffer.alloc(bytesOf(ms)));
    return;
  }
  for (let sent = 0; sent < ms && !response.destroyed; sent += PIECE_MS) {
    response.write(Buffer.alloc(bytesOf(PIECE_MS)));
    await delay(PIECE_MS);
  }
  response.end();
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}
