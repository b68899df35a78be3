import { type FailureCode, PortError } from "../ports/failure.ts";
import type { TranscriberEvent, TranscriberSession } from "../ports/transcriber.ts";
import { codeOf } from "./request.ts";

/** Vendors hang up after 10 s without audio; looked at twice within them. */
const keepAliveMs = 4000;

export type Dialect = {
  /** What a message says, already parsed as JSON; throws when it is none of the vendor's. */
  read(message: unknown): TranscriberEvent[];
  /** What keeps the line open while nothing is said. */
  keepAlive: string | Int16Array;
};

/** The socket of a recogniser; throws `PortError` when it refuses or does not answer in time. */
export async function openSocket(
  handshake: (signal: AbortSignal) => Promise<Response>,
  timeoutMs: number,
): Promise<WebSocket> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  try {
    const response = await handshake(late.signal);
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

/** Lives until `close`, or until it has told that it is lost. */
export function startSession(
  socket: WebSocket,
  onEvent: (event: TranscriberEvent) => void,
  { read, keepAlive }: Dialect,
): TranscriberSession {
  let open = true;
  let fed = false;

  const timer = setInterval(() => {
    if (!fed) socket.send(keepAlive);
    fed = false;
  }, keepAliveMs);
  const stop = () => {
    open = false;
    clearInterval(timer);
  };
  const lose = (code: FailureCode) => {
    if (!open) return;
    stop();
    onEvent({ type: "lost", code });
  };

  socket.binaryType = "arraybuffer";
  socket.addEventListener("message", ({ data }) => {
    for (const event of open ? eventsIn(data, read) : []) {
      // Whoever was told the one before may have closed.
      if (!open) return;
      if (event.type !== "lost") onEvent(event);
      else {
        socket.close(1002);
        lose(event.code);
      }
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

function eventsIn(data: unknown, read: Dialect["read"]): TranscriberEvent[] {
  try {
    return read(JSON.parse(String(data)));
  } catch {
    return [{ type: "lost", code: "garbled" }];
  }
}
