import type { AudioFormat } from "../audio/format.ts";
import type { EndReason, TurnMessage } from "../turn.ts";

/** What a client may say, whatever its dialect. */
export type ClientMessage =
  /** `null`: the client does not care. `input` is what it sends, when that differs from `audio`. */
  | { type: "start"; audio: AudioFormat | null; input: AudioFormat | null; textOnly: boolean }
  | { type: "audio"; bytes: ArrayBuffer }
  | { type: "user_text"; text: string }
  | { type: "mark"; name: string }
  | { type: "interrupt" }
  | { type: "end" };

/** A frame that was not understood; the call goes on. */
export type ClientMessageError = { type: "error"; code: string; message: string };

/** What the session says, before it is put into the client's dialect. */
export type ServerMessage =
  | TurnMessage
  | ClientMessageError
  | { type: "ready"; call_id: string; audio: AudioFormat; agent: { id: string; name: string } }
  /** The audio that was not played yet is void. */
  | { type: "clear"; turn_id: number }
  | { type: "ended"; reason: EndReason };

export type Frame = string | Uint8Array<ArrayBuffer>;

/** A piece of an agent's audio, and what it says. */
export type AudioPiece = {
  bytes: Uint8Array<ArrayBuffer>;
  format: AudioFormat;
  /** The reply that it belongs to. */
  turnId: number;
};

/** What goes out to the client, and the dialect's next state. */
export type Written<State> = { frames: Frame[]; state: State };

/** What a client's frame means; `frames` are the dialect's own answer to it, which goes out first. */
export type Understood<State> = Written<State> & {
  messages: (ClientMessage | ClientMessageError)[];
};

/**
 * A protocol of the socket. It translates and decides nothing: what a client says into messages
 * that all dialects share, what the session says into the frames its clients know. Its state is
 * plain data, which outlives the object.
 */
export type Dialect<State> = {
  name: string;
  /** The WebSocket subprotocol by which clients ask for it. */
  subprotocol: string;
  /** Both ways, unless `start` asks for another. */
  audio: AudioFormat;
  /** Whether the agent speaks to a client that has neither asked for audio nor sent any. */
  speaksUnasked: boolean;
  /** How long the greeting waits for a `start`. */
  startWithinMs: number;
  initial: State;
  /** The state for another socket of a call that goes on. */
  renew(state: State): State;
  read(frame: string | ArrayBuffer, state: State, now: number): Understood<State>;
  write(message: ServerMessage, state: State, now: number): Written<State>;
  speak(audio: AudioPiece, state: State, now: number): Written<State>;
};
