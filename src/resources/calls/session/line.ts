import type { AudioFormat } from "../../../voice/audio/format.ts";
import type {
  ClientMessage,
  ClientMessageError,
  Frame,
  ServerMessage,
} from "../../../voice/dialects/dialect.ts";
import { chooseDialect, openInterpreter } from "../../../voice/dialects.ts";
import { floodGuard } from "./flood.ts";
import { ABUSE } from "./socket.ts";
import type { SessionStore } from "./store.ts";
import { openWatchers } from "./watchers.ts";

/** The wire to the client: its socket, its dialect, its manners; and those who watch the call. */
export type Line = ReturnType<typeof openLine>;

export function openLine(ctx: DurableObjectState, store: SessionStore) {
  const flood = floodGuard();
  const watchers = openWatchers();
  let interpreter = openInterpreter(
    store.state.dialect ?? "native",
    store.state.dialectState ?? null,
  );

  const current = () =>
    ctx.getWebSockets().findLast((socket) => socket.readyState === WebSocket.OPEN);

  function transmit(frames: readonly Frame[]) {
    const socket = current();
    for (const frame of frames) socket?.send(frame);
  }

  /** Pieces come by the dozen each second; what they change is written with the next message. */
  function keepDialectState(isPiece: boolean) {
    const dialectState = interpreter.state();
    if (dialectState === store.state.dialectState) return;
    if (isPiece) store.remember({ dialectState });
    else store.set({ dialectState });
  }

  /** A call keeps the dialect it has begun in: its audio is made for that. */
  function openDialect(name: typeof interpreter.name) {
    if (store.state.turn) interpreter.renew();
    else interpreter = openInterpreter(name, null);
    store.set({ dialect: interpreter.name, dialectState: interpreter.state() });
  }

  return {
    isConnected: () => current() !== undefined,
    isCurrent: (socket: WebSocket) => socket === current(),
    dialect: () => interpreter.settings,

    /** The client's new socket, in place of the one it may have had. */
    connect(request: Request): { response: Response; isTakenOver: boolean } {
      const before = current();
      const { name, subprotocol } = dialectFor(request);
      const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
      ctx.acceptWebSocket(server);
      before?.close(4409, "taken over by another connection");
      openDialect(name);
      const headers: HeadersInit = subprotocol ? { "Sec-WebSocket-Protocol": subprotocol } : {};
      return {
        response: new Response(null, { status: 101, webSocket: client, headers }),
        isTakenOver: before !== undefined,
      };
    },

    /** What a frame says; null when it is an abuse, for which its socket is closed. */
    read(
      socket: WebSocket,
      frame: string | ArrayBuffer,
    ): (ClientMessage | ClientMessageError)[] | null {
      const now = Date.now();
      const bytes = typeof frame === "string" ? frame.length : frame.byteLength;
      if (flood.isAbuse(bytes, now)) {
        socket.close(ABUSE, "too much at once");
        return null;
      }
      const { frames, messages } = interpreter.read(frame, now);
      keepDialectState(messages.some(({ type }) => type === "audio"));
      transmit(frames);
      return messages;
    },

    /** Whether audio of the client is heard: it is not when it is broken or far ahead of time. */
    admitAudio(bytes: ArrayBuffer, format: AudioFormat): boolean {
      const { isTaken, error } = flood.admitAudio(bytes.byteLength, format, Date.now());
      if (error) this.send(error);
      return isTaken;
    },

    send(message: ServerMessage) {
      const frames = interpreter.write(message, Date.now());
      keepDialectState(message.type === "agent_text" && !message.final);
      transmit(frames);
      watchers.tell(message);
    },

    /** Audio is always of the reply under way. */
    sendAudio(bytes: Uint8Array<ArrayBuffer>, format: AudioFormat) {
      const turnId = store.state.turn?.reply?.turnId;
      if (turnId === undefined) return;
      const frames = interpreter.speak({ bytes, format, turnId }, Date.now());
      keepDialectState(true);
      transmit(frames);
    },

    watch: watchers.add,

    close(code: number, reason: string) {
      for (const socket of ctx.getWebSockets()) socket.close(code, reason);
      watchers.close();
    },
  };
}

function dialectFor(request: Request) {
  const asked = new URL(request.url).searchParams.get("dialect")?.split("?")[0] ?? null;
  const offered = request.headers.get("Sec-WebSocket-Protocol")?.split(",") ?? [];
  return chooseDialect(
    asked,
    offered.map((protocol) => protocol.trim()),
  );
}
