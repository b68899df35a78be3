import { addAudio, echoMark, finishChunk, restartChunk } from "../playback.ts";
import { type Draft, send, update, updateReply } from "./draft.ts";
import { finish, speakChunk, speakNext } from "./reply.ts";
import { hasAudio, markName, type Reply } from "./state.ts";

export function audioSent(draft: Draft, reply: Reply, chunk: number, ms: number): void {
  const playback = addAudio(reply.playback, chunk, ms, draft.now);
  const firstAudioAt = reply.firstAudioAt ?? draft.now;
  updateReply(draft, { playback, firstAudioAt, audioOpen: true });
  update(draft, { activeAt: Math.max(draft.state.activeAt, playback.endsAt) });
  if (!reply.audioOpen) send(draft, { type: "agent_audio_start", turn_id: reply.turnId });
  if (hasAudio(reply) || reply.firstTextAt === null) return;
  send(draft, {
    type: "metrics",
    turn_id: reply.turnId,
    first_text_ms: reply.firstTextAt - reply.askedAt,
    first_audio_ms: draft.now - reply.askedAt,
    speculation: reply.speculation,
  });
}

export function chunkSent(draft: Draft, reply: Reply, chunk: number): void {
  updateReply(draft, { playback: finishChunk(reply.playback, chunk) });
  send(draft, { type: "mark", name: markName(reply.turnId, chunk) });
  speakNext(draft);
}

/** A chunk is tried twice with a voice; without any voice the agent cannot even apologise. */
export function speechFailed(draft: Draft, reply: Reply, chunk: number): void {
  const hasFailedBefore = reply.retried.includes(chunk);
  if (hasFailedBefore && draft.state.voiceFailed) {
    const message = "The agent's voice is not available.";
    send(draft, { type: "error", code: "speech_failed", message });
    finish(draft, "error");
    return;
  }
  if (hasFailedBefore) update(draft, { voiceFailed: true });
  updateReply(draft, { retried: [...reply.retried, chunk] });
  speakAgain(draft, chunk);
}

export function speakAgain(draft: Draft, chunk: number): void {
  const { reply } = draft.state;
  if (!reply) return;
  updateReply(draft, { playback: restartChunk(reply.playback, chunk) });
  speakChunk(draft, reply, chunk);
}

/** Marks of a reply that was cleared belong to no reply any more, and prove nothing. */
export function markEchoed(draft: Draft, name: string): void {
  const { reply } = draft.state;
  const chunk = reply?.playback.chunks.findIndex((_, i) => markName(reply.turnId, i) === name);
  if (!reply || chunk === undefined || chunk < 0) return;
  const playback = echoMark(reply.playback, chunk, draft.now);
  if (playback === reply.playback) return;
  updateReply(draft, { playback });
  update(draft, { echoes: true, activeAt: Math.max(draft.state.activeAt, playback.endsAt) });
}
