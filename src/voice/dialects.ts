import { convai } from "./dialects/convai.ts";
import type {
  AudioPiece,
  ClientMessage,
  ClientMessageError,
  Dialect,
  Frame,
  ServerMessage,
} from "./dialects/dialect.ts";
import { native } from "./dialects/native.ts";
import { realtime } from "./dialects/realtime.ts";

export const dialectNames = ["native", "convai", "realtime"] as const;

export type DialectName = (typeof dialectNames)[number];

/** A dialect with its state: frames in, messages out, and the other way round. */
export type Interpreter = {
  name: DialectName;
  settings: Pick<Dialect<unknown>, "audio" | "speaksUnasked" | "startWithinMs">;
  read(frame: string | ArrayBuffer, now: number): Understood;
  write(message: ServerMessage, now: number): Frame[];
  speak(audio: AudioPiece, now: number): Frame[];
  /** Goes on with another socket of the same call. */
  renew(): void;
  /** Plain data, for the interpreter that goes on. */
  state(): unknown;
};

export type Understood = { frames: Frame[]; messages: (ClientMessage | ClientMessageError)[] };

/** `stored`: the state of an interpreter of the same name; `null` for a new client. */
export function openInterpreter(name: DialectName, stored: unknown): Interpreter {
  switch (name) {
    case "native":
      return interpreter(name, native, stored);
    case "convai":
      return interpreter(name, convai, stored);
    case "realtime":
      return interpreter(name, realtime, stored);
  }
}

function interpreter<State>(
  name: DialectName,
  dialect: Dialect<State>,
  stored: unknown,
): Interpreter {
  let state = stored === null ? dialect.initial : (stored as State);
  return {
    name,
    settings: dialect,
    read(frame, now) {
      const understood = dialect.read(frame, state, now);
      state = understood.state;
      return understood;
    },
    write(message, now) {
      const written = dialect.write(message, state, now);
      state = written.state;
      return written.frames;
    },
    speak(audio, now) {
      const written = dialect.speak(audio, state, now);
      state = written.state;
      return written.frames;
    },
    renew() {
      state = dialect.renew(state);
    },
    state: () => state,
  };
}

/**
 * What a handshake asks for: the query `dialect` counts first, then a subprotocol that is known,
 * else it is native. Of the subprotocols offered one is to be echoed, or browsers hang up.
 */
export function chooseDialect(
  asked: string | null,
  offered: readonly string[],
): { name: DialectName; subprotocol: string | null } {
  const name =
    dialectNames.find((known) => known === asked) ??
    offered.map(nameOf).find((known) => known !== undefined) ??
    "native";
  const own = offered.find((protocol) => protocol === subprotocols[name]);
  return { name, subprotocol: own ?? offered[0] ?? null };
}

function nameOf(protocol: string): DialectName | undefined {
  return dialectNames.find((name) => subprotocols[name] === protocol);
}

const subprotocols: Record<DialectName, string> = {
  native: native.subprotocol,
  convai: convai.subprotocol,
  realtime: realtime.subprotocol,
};
