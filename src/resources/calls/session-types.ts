import type { TranscriptEntry } from "../../db/schema/index.ts";
import type { EndReason } from "../../voice/turn.ts";

/** The agent as it was when the call began: a change of the agent does not reach a live call. */
export type SessionAgent = {
  id: string;
  name: string;
  /** BCP-47. */
  language: string;
  firstMessage: string;
  systemPrompt: string;
  provider: string;
  model: string | null;
  voiceProvider: string;
  voiceModel: string;
  voiceId: string;
  hipaa: boolean;
  endCallPhrases: string[];
};

/** What a session must know before anybody can join it. */
export type Preparation = {
  organizationId: string;
  callId: string;
  keyId: string | null;
  agent: SessionAgent;
  /** Ms since the epoch. */
  createdAt: number;
  /** Ms since the epoch; unjoined by then, the call ends. */
  joinBy: number;
};

/** One live call, as the rest of the service calls it. Every method throws `Unavailable`. */
export type Session = {
  prepare(preparation: Preparation): Promise<void>;
  /** Answers the WebSocket handshake, or says as an HTTP status why not. */
  connect(request: Request): Promise<Response>;
  /** False when the call had ended already, or never began. */
  end(reason: EndReason): Promise<boolean>;
  /** What was said so far; null once the call's record is complete in Postgres. */
  transcript(): Promise<TranscriptEntry[] | null>;
  /** Server-sent events from now until the end; null when the call is over. */
  watch(): Promise<ReadableStream<Uint8Array> | null>;
};
