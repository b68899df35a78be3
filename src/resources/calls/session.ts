import { DurableObject } from "cloudflare:workers";
import type { TranscriptEntry } from "../../db/schema/index.ts";
import type { Transcriber } from "../../ports/transcriber.ts";
import type { AudioFormat } from "../../voice/audio/format.ts";
import type { ClientMessage, ClientMessageError } from "../../voice/dialects/dialect.ts";
import {
  type EndReason,
  initialTurnState,
  resume,
  type Step,
  step,
  type TurnEffect,
  type TurnEvent,
  unheardMs,
} from "../../voice/turn.ts";
import type { Wiring } from "../../wiring.ts";
import { dueDeadlines, nextDeadline, nothingDue } from "./session/deadlines.ts";
import { earlyAudio } from "./session/early-audio.ts";
import { endingWriter } from "./session/ending-writer.ts";
import { type Engine, isEngineEffect, openEngine } from "./session/engine.ts";
import { endingOf, entriesAt, writeJoined } from "./session/final-write.ts";
import { type Line, openLine } from "./session/line.ts";
import { lateStart, readyMessage } from "./session/ready.ts";
import { admitClient, answerClose, closeCodeOf, isHangUp } from "./session/socket.ts";
import { sessionStore } from "./session/store.ts";
import { turnConfig } from "./session/turn-config.ts";
import type { Preparation } from "./session-types.ts";

export type SessionWiring = Pick<Wiring, "tenant" | "queue" | "catalogue" | "settings"> & {
  transcriber: Transcriber;
};

/**
 * One live call: sockets in, effects out. The turn machine decides; this shell keeps its state in
 * storage, so that an evicted object goes on, and its alarm sees to it that every call has an end
 * and that the end reaches Postgres.
 */
export abstract class CallSessionObject<Env> extends DurableObject<Env> {
  readonly #wiring: SessionWiring;
  readonly #store: ReturnType<typeof sessionStore>;
  readonly #line: Line;
  readonly #writeEnding: () => Promise<void>;
  #engine: Engine | null = null;
  readonly #early = earlyAudio();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#wiring = this.wire(env);
    this.#store = sessionStore(ctx.storage);
    this.#line = openLine(ctx, this.#store);
    this.#writeEnding = endingWriter(this.#store, this.#wiring);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
    if (this.#store.state.joinedAt !== null && this.#isOpen()) this.#goOn();
  }

  /** Called once, by the constructor: `index.ts` gives the object its parts. */
  protected abstract wire(env: Env): SessionWiring;

  async prepare(preparation: Preparation): Promise<void> {
    const { doomed, over } = this.#store.state;
    if (over) return;
    this.#store.set({ preparation });
    if (doomed) this.#hangUp(doomed);
    await this.#setAlarm();
  }

  /** Built again in the middle of a call. Eviction takes the streams, a crash the sockets as well. */
  #goOn() {
    const { turn, rejoinBy } = this.#store.state;
    if (!this.#line.isConnected() && rejoinBy === null) this.#loseClient();
    else if (turn?.phase === "live") this.#follow(resume(turn, Date.now()), true);
    this.ctx.waitUntil(this.#setAlarm());
  }

  override async fetch(request: Request): Promise<Response> {
    const admission = admitClient(new URL(request.url), this.#store.state);
    if (admission !== 101) return new Response(null, { status: admission });
    const { turn, joinedAt } = this.#store.state;
    const { response, isTakenOver } = this.#line.connect(request);
    const now = Date.now();
    this.#store.set({ rejoinBy: null, pulseAt: this.#rejoinAfter(now), joinedAt: joinedAt ?? now });
    this.#sayReady();
    if (turn) this.#dispatch({ type: isTakenOver ? "taken_over" : "rejoined" });
    else this.#store.set({ beginAt: now + this.#line.dialect().startWithinMs });
    await this.#setAlarm();
    return response;
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer) {
    if (!this.#line.isCurrent(socket) || !this.#isOpen()) return;
    const messages = this.#line.read(socket, message);
    if (!messages) this.#hangUp("error");
    else for (const said of messages) this.#onMessage(said);
    await this.#setAlarm();
  }

  override async webSocketClose(socket: WebSocket, code: number) {
    answerClose(socket, code);
    const isReplaced = this.#line.isConnected() && !this.#line.isCurrent(socket);
    if (isReplaced || !this.#isOpen()) return;
    if (isHangUp(code)) this.#hangUp("hangup");
    else this.#loseClient();
    await this.#setAlarm();
  }

  override async webSocketError(socket: WebSocket) {
    await this.webSocketClose(socket, 1006);
  }

  override async alarm() {
    for (const deadline of dueDeadlines(this.#store.state, Date.now())) {
      switch (deadline) {
        case "write":
          await this.#writeEnding();
          break;
        case "begin":
          this.#begin();
          break;
        case "pulse":
          this.#store.set({ pulseAt: this.#rejoinAfter(Date.now()) });
          break;
        case "tick":
          this.#store.set({ turnAt: null });
          this.#dispatch({ type: "tick" });
          break;
        default:
          this.#hangUp(deadline);
      }
    }
    await this.#setAlarm();
  }

  async end(reason: EndReason): Promise<boolean> {
    const { preparation, over } = this.#store.state;
    if (!preparation && !over) this.#store.set({ doomed: reason });
    if (!this.#isOpen()) return false;
    this.#hangUp(reason);
    await this.#writeEnding();
    await this.#setAlarm();
    return true;
  }

  transcript(): TranscriptEntry[] | null {
    return this.#store.state.preparation ? entriesAt(this.#store.state.turn, Date.now()) : null;
  }

  watch(): ReadableStream<Uint8Array> | null {
    if (!this.#isOpen()) return null;
    return this.#line.watch(entriesAt(this.#store.state.turn, Date.now()));
  }

  #onMessage(message: ClientMessage | ClientMessageError) {
    switch (message.type) {
      case "error":
        return this.#line.send(message);
      case "audio":
        return this.#onAudio(message.bytes);
      case "start":
        if (this.#store.state.turn) return this.#refuseStart();
        this.#store.set({
          format: message.audio,
          inputFormat: message.input,
          textOnly: message.textOnly,
        });
        this.#sayReady();
        return this.#begin();
      case "end":
        return this.#hangUp("hangup");
      default:
        if (!this.#store.state.turn) this.#begin();
        return this.#dispatch(message);
    }
  }

  /** Formats are settled when the session begins; other dialects may say them again. */
  #refuseStart() {
    if (this.#store.state.dialect === "native") this.#line.send(lateStart);
  }

  #onAudio(frame: ArrayBuffer) {
    const { inputFormat, textOnly, turn } = this.#store.state;
    if (textOnly || frame.byteLength === 0) return;
    if (!turn) return this.#early.keep(frame);
    if (!this.#line.admitAudio(frame, inputFormat ?? this.#format())) return;
    if (!turn.voice) this.#dispatch({ type: "audio_received" });
    this.#running().hear(frame);
  }

  /** The session begins: the greeting, and the clock of the call. */
  #begin() {
    const { preparation, format, textOnly, turn, joinedAt } = this.#store.state;
    if (!preparation || turn) return;
    const { speaksUnasked } = this.#line.dialect();
    const isSpoken = format !== null || (speaksUnasked && !textOnly) || !this.#early.isEmpty();
    const config = turnConfig(preparation.agent, this.#wiring.settings, isSpoken);
    this.#store.set({ turn: initialTurnState(config), beginAt: null });
    const db = this.#wiring.tenant(preparation.organizationId);
    const written = writeJoined(db, preparation, joinedAt ?? Date.now());
    this.ctx.waitUntil(written.catch(() => undefined));
    this.#dispatch({ type: "joined" });
    for (const frame of this.#early.take()) this.#onAudio(frame);
  }

  #dispatch(event: TurnEvent) {
    const { turn } = this.#store.state;
    if (!turn || turn.phase === "ended") return;
    // Pieces come by the dozen each second; what they change is written with the next event.
    const isPiece = ["model_delta", "speech_audio", "caller_partial"].includes(event.type);
    this.#follow(step(turn, event, Date.now()), !isPiece);
  }

  #follow({ state, effects }: Step, isKept: boolean) {
    if (isKept) this.#store.set({ turn: state });
    else this.#store.remember({ turn: state });
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: TurnEffect) {
    if (isEngineEffect(effect)) return this.#running().perform(effect);
    switch (effect.type) {
      case "send":
        return this.#line.send(effect.message);
      case "send_clear":
        return this.#line.send({ type: "clear", turn_id: effect.turnId });
      case "set_alarm":
        this.#store.set({ turnAt: effect.at });
        return this.ctx.waitUntil(this.#setAlarm());
      case "record":
        return;
      case "end":
        return this.#conclude(effect.reason);
    }
  }

  #loseClient() {
    this.#dispatch({ type: "client_lost" });
    this.#store.set({ rejoinBy: this.#rejoinAfter(Date.now()), beginAt: null, pulseAt: null });
  }

  #rejoinAfter(now: number): number {
    return now + this.#wiring.settings.CALL_REJOIN_SECONDS * 1_000;
  }

  #hangUp(reason: EndReason) {
    if (this.#store.state.turn) this.#dispatch({ type: "end_requested", reason });
    else this.#conclude(reason);
  }

  /** The call is over: its end is fixed in storage first, then told, then written to Postgres. */
  #conclude(reason: EndReason) {
    const { preparation, joinedAt, turn, ending } = this.#store.state;
    if (!preparation || ending) return;
    const now = Date.now();
    this.#store.set({
      ending: endingOf(preparation, {
        reason,
        startedAt: joinedAt,
        endedAt: now,
        entries: entriesAt(turn, now),
      }),
      ...nothingDue,
      writeAt: now,
    });
    this.#engine?.stop();
    this.#line.send({ type: "ended", reason });
    this.#line.close(closeCodeOf(reason), reason);
    this.ctx.waitUntil(this.#setAlarm());
  }

  #running(): Engine {
    const { preparation, inputFormat } = this.#store.state;
    if (!preparation) throw new Error("a call runs that was never prepared");
    const format = this.#format();
    this.#engine ??= openEngine({
      agent: preparation.agent,
      format,
      inputFormat,
      catalogue: this.#wiring.catalogue,
      transcriber: this.#wiring.transcriber,
      aheadMs: () => (this.#store.state.turn ? unheardMs(this.#store.state.turn, Date.now()) : 0),
      sendAudio: (audio) => this.#line.sendAudio(audio, format),
      onEvent: (event) => this.#dispatch(event),
    });
    return this.#engine;
  }

  #sayReady() {
    const { preparation } = this.#store.state;
    if (preparation) this.#line.send(readyMessage(preparation, this.#format()));
  }

  #format(): AudioFormat {
    return this.#store.state.format ?? this.#line.dialect().audio;
  }

  #isOpen(): boolean {
    const { preparation, ending } = this.#store.state;
    return preparation !== null && ending === null;
  }

  async #setAlarm() {
    const at = nextDeadline(this.#store.state);
    if (at === null || (await this.ctx.storage.getAlarm()) === at) return;
    await this.ctx.storage.setAlarm(at);
  }
}
