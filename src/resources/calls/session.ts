import { DurableObject } from "cloudflare:workers";
import type { TranscriptEntry } from "../../db/schema/index.ts";
import type { Transcriber } from "../../ports/transcriber.ts";
import {
  type ClientMessage,
  type ClientMessageError,
  DEFAULT_AUDIO,
  readClientMessage,
} from "../../voice/dialects/native.ts";
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
import { dueDeadlines, nextDeadline } from "./session/deadlines.ts";
import { type Engine, isEngineEffect, openEngine } from "./session/engine.ts";
import { endingOf, entriesAt, writeEnding, writeJoined } from "./session/final-write.ts";
import { floodGuard } from "./session/flood.ts";
import { readyMessage } from "./session/ready.ts";
import { ABUSE, admitClient, closeCodeOf, isHangUp } from "./session/socket.ts";
import { sessionStore } from "./session/store.ts";
import { openWatchers } from "./session/watchers.ts";
import type { Preparation } from "./session-types.ts";

/** How long the greeting waits for a `start` that may change formats. */
const START_WITHIN_MS = 300;
const MAX_WRITE_DELAY_MS = 60_000;

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
  #engine: Engine | null = null;
  readonly #flood = floodGuard();
  readonly #watchers = openWatchers();
  #writing: Promise<void> | null = null;
  /** Audio that came before the session began: its format is not certain until then. */
  #early: ArrayBuffer[] = [];

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#wiring = this.wire(env);
    this.#store = sessionStore(ctx.storage);
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
    if (!this.#socket() && rejoinBy === null) this.#loseClient();
    else if (turn?.phase === "live") this.#follow(resume(turn, Date.now()), true);
    this.ctx.waitUntil(this.#setAlarm());
  }

  override async fetch(request: Request): Promise<Response> {
    const { preparation, ending, over, turn, joinedAt } = this.#store.state;
    const agentId = new URL(request.url).searchParams.get("assistant_id");
    const admission = admitClient({
      agentId,
      call: preparation && { agentId: preparation.agent.id },
      over: over ?? (ending && preparation && { agentId: preparation.agent.id, ...ending }),
    });
    if (admission !== 101) return new Response(null, { status: admission });
    const before = this.#socket();
    const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
    this.ctx.acceptWebSocket(server);
    before?.close(4409, "taken over by another connection");
    this.#store.set({ rejoinBy: null, joinedAt: joinedAt ?? Date.now() });
    this.#send(readyMessage(this.#store.state));
    if (turn) this.#dispatch({ type: before ? "taken_over" : "rejoined" });
    else this.#store.set({ beginAt: Date.now() + START_WITHIN_MS });
    await this.#setAlarm();
    return new Response(null, { status: 101, webSocket: client });
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer) {
    if (socket !== this.#socket() || !this.#isOpen()) return;
    const bytes = typeof message === "string" ? message.length : message.byteLength;
    if (this.#flood.isAbuse(bytes, Date.now())) {
      socket.close(ABUSE, "too much at once");
      this.#hangUp("error");
    } else if (typeof message === "string") this.#onText(readClientMessage(message));
    else this.#onAudio(message);
    await this.#setAlarm();
  }

  override async webSocketClose(socket: WebSocket, code: number) {
    const current = this.#socket();
    if ((current && current !== socket) || !this.#isOpen()) return;
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
    return this.#watchers.add(entriesAt(this.#store.state.turn, Date.now()));
  }

  #onText(message: ClientMessage | ClientMessageError) {
    switch (message.type) {
      case "error":
        return this.#send(message);
      case "start":
        if (this.#store.state.turn) return;
        this.#store.set({ format: message.audio, textOnly: message.textOnly });
        this.#send(readyMessage(this.#store.state));
        return this.#begin();
      case "end":
        return this.#hangUp("hangup");
      default:
        if (!this.#store.state.turn) this.#begin();
        return this.#dispatch(message);
    }
  }

  #onAudio(frame: ArrayBuffer) {
    const { format, textOnly, turn } = this.#store.state;
    if (textOnly) return;
    if (!turn) {
      this.#early.push(frame);
      return;
    }
    const verdict = this.#flood.admitAudio(frame.byteLength, format ?? DEFAULT_AUDIO, Date.now());
    if (verdict.error) this.#send(verdict.error);
    if (!verdict.isTaken) return;
    if (!turn.voice) this.#dispatch({ type: "audio_received" });
    this.#running().hear(frame);
  }

  /** The session begins: the greeting, and the clock of the call. */
  #begin() {
    const { preparation, format, turn, joinedAt } = this.#store.state;
    if (!preparation || turn) return;
    const { agent } = preparation;
    const { CALL_IDLE_SECONDS, CALL_MAX_SECONDS } = this.#wiring.settings;
    const initial = initialTurnState({
      greeting: agent.firstMessage || null,
      language: agent.language,
      speculates: this.#wiring.settings.CALL_SPECULATION,
      endCallPhrases: agent.endCallPhrases,
      idleMs: CALL_IDLE_SECONDS * 1_000,
      maxMs: CALL_MAX_SECONDS * 1_000,
      textOnlyUntilAudio: format === null && this.#early.length === 0,
    });
    this.#store.set({ turn: initial, beginAt: null });
    const db = this.#wiring.tenant(preparation.organizationId);
    const written = writeJoined(db, preparation, joinedAt ?? Date.now());
    this.ctx.waitUntil(written.catch(() => undefined));
    this.#dispatch({ type: "joined" });
    for (const frame of this.#early.splice(0)) this.#onAudio(frame);
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
    else this.#store.remember(state);
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: TurnEffect) {
    if (isEngineEffect(effect)) return this.#running().perform(effect);
    switch (effect.type) {
      case "send":
        return this.#send(effect.message);
      case "send_clear":
        return this.#send({ type: "clear", turn_id: effect.turnId });
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
    const rejoinBy = Date.now() + this.#wiring.settings.CALL_REJOIN_SECONDS * 1_000;
    this.#store.set({ rejoinBy, beginAt: null });
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
      writeAt: now,
      turnAt: null,
      beginAt: null,
      rejoinBy: null,
    });
    this.#engine?.stop();
    this.#send({ type: "ended", reason });
    for (const socket of this.ctx.getWebSockets()) socket.close(closeCodeOf(reason), reason);
    this.#watchers.close();
    this.ctx.waitUntil(this.#setAlarm());
  }

  /** One at a time: the alarm and a caller of `end` may both want it. */
  #writeEnding(): Promise<void> {
    this.#writing ??= this.#tryToWriteEnding().finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  async #tryToWriteEnding() {
    const { preparation, ending } = this.#store.state;
    if (!preparation || !ending) return;
    const db = this.#wiring.tenant(preparation.organizationId);
    try {
      await writeEnding(db, this.#wiring.queue, preparation, ending);
      const { agent } = preparation;
      await this.#store.forget({ agentId: agent.id, reason: ending.reason });
    } catch {
      const delay = Math.min(MAX_WRITE_DELAY_MS, 1_000 * 2 ** ending.tries);
      this.#store.set({
        ending: { ...ending, tries: ending.tries + 1 },
        writeAt: Date.now() + delay,
      });
    }
  }

  #running(): Engine {
    const { preparation, format } = this.#store.state;
    if (!preparation) throw new Error("a call runs that was never prepared");
    this.#engine ??= openEngine({
      agent: preparation.agent,
      format: format ?? DEFAULT_AUDIO,
      catalogue: this.#wiring.catalogue,
      transcriber: this.#wiring.transcriber,
      aheadMs: () => (this.#store.state.turn ? unheardMs(this.#store.state.turn, Date.now()) : 0),
      sendAudio: (audio) => this.#socket()?.send(audio),
      onEvent: (event) => this.#dispatch(event),
    });
    return this.#engine;
  }

  #isOpen(): boolean {
    const { preparation, ending } = this.#store.state;
    return preparation !== null && ending === null;
  }

  #socket(): WebSocket | undefined {
    return this.ctx.getWebSockets().findLast((socket) => socket.readyState === WebSocket.OPEN);
  }

  #send(message: Record<string, unknown>) {
    this.#socket()?.send(JSON.stringify(message));
    this.#watchers.tell(message);
  }

  async #setAlarm() {
    const at = nextDeadline(this.#store.state);
    if (at === null || (await this.ctx.storage.getAlarm()) === at) return;
    await this.ctx.storage.setAlarm(at);
  }
}
