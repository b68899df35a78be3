import type { TranscriptEntry } from "../../../db/schema/index.ts";
import type { AudioFormat } from "../../../voice/audio/format.ts";
import type { DialectName } from "../../../voice/dialects.ts";
import type { EndReason, TurnState } from "../../../voice/turn.ts";
import type { NewEvent } from "../../webhooks/events.ts";
import type { Preparation } from "../session-types.ts";

/** How a call ended, complete: all that the final write to Postgres needs, however often it is tried. */
export type Ending = {
  reason: EndReason;
  startedAt: number | null;
  endedAt: number;
  entries: TranscriptEntry[];
  event: NewEvent;
  /** The outbox row of the analysis. */
  analysisId: string;
  tries: number;
};

/** What of a call must outlive its object; ms since the epoch everywhere. */
export type Stored = {
  preparation: Preparation | null;
  turn: TurnState | null;
  /** Of the call's audio, once a client or its dialect has said. */
  format: AudioFormat | null;
  /** What the client sends, when that differs. */
  inputFormat: AudioFormat | null;
  textOnly: boolean;
  /** The dialect of the call, and what its interpreter knows of the client that is connected. */
  dialect: DialectName | null;
  dialectState: unknown;
  /** It was ended before it was prepared: by a key that was revoked in between. */
  doomed: EndReason | null;
  /** The first socket was accepted. */
  joinedAt: number | null;
  /** The socket is open and the session begins then, unless `start` comes before. */
  beginAt: number | null;
  /** The client is away; by then it must be back. */
  rejoinBy: number | null;
  /** While a client is there, the object is woken now and then: a crash takes sockets unnoticed. */
  pulseAt: number | null;
  /** When the turn machine wants to be woken. */
  turnAt: number | null;
  ending: Ending | null;
  /** When to try the final write again. */
  writeAt: number | null;
  /** All that is kept of a call whose record is complete: how to refuse a late socket. */
  over: { agentId: string; reason: EndReason } | null;
};

const nothing: Stored = {
  preparation: null,
  turn: null,
  format: null,
  inputFormat: null,
  textOnly: false,
  dialect: null,
  dialectState: null,
  doomed: null,
  joinedAt: null,
  beginAt: null,
  rejoinBy: null,
  pulseAt: null,
  turnAt: null,
  ending: null,
  writeAt: null,
  over: null,
};

/** The object's storage as one record, read once into memory and written field by field. */
export function sessionStore(storage: DurableObjectStorage) {
  let memory: Stored = { ...nothing };
  let unwritten: Partial<Stored> = {};
  for (const [name, value] of storage.kv.list()) memory = { ...memory, [name]: value };
  return {
    get state(): Readonly<Stored> {
      return memory;
    },
    set(fields: Partial<Stored>) {
      memory = { ...memory, ...fields };
      for (const [name, value] of Object.entries({ ...unwritten, ...fields })) {
        storage.kv.put(name, value);
      }
      unwritten = {};
    },
    /** Kept in memory alone: for what is written with the next `set`. */
    remember(fields: Partial<Stored>) {
      memory = { ...memory, ...fields };
      unwritten = { ...unwritten, ...fields };
    },
    /** The record is in Postgres; nothing that was said stays here. */
    async forget(over: NonNullable<Stored["over"]>) {
      await storage.deleteAlarm();
      await storage.deleteAll();
      memory = { ...nothing, over };
      unwritten = {};
      storage.kv.put("over", over);
    },
  };
}

export type SessionStore = ReturnType<typeof sessionStore>;
