import { firstWords, isSilent, spokenLength } from "./words.ts";

/**
 * The ledger of one spoken reply: what was sent, and so what the caller has heard at any moment.
 * The clock says that audio plays in real time from the moment it is sent, and that a client which
 * has run dry goes on at the next piece. A mark echoed by the client corrects the clock: everything
 * before the mark has been played, and nothing after it yet.
 */
export type Playback = {
  chunks: PlaybackChunk[];
  /** When all audio sent so far will have been played. */
  endsAt: number;
  /** The last chunk whose mark was echoed, -1 before the first. */
  echoed: number;
};

export type PlaybackChunk = {
  text: string;
  /** Audio sent for it. */
  ms: number;
  /** The part of `ms` from an attempt that broke off; the chunk then began anew. */
  lostMs: number;
  /** No more audio will come for it. */
  done: boolean;
};

export type Heard = { text: string; ms: number };

export const emptyPlayback: Playback = { chunks: [], endsAt: 0, echoed: -1 };

/** Until a reply has a finished chunk of its own to measure: about 15 letters a second. */
const usualMsPerLetter = 65;
/** How long the last mark of a client that echoes marks is waited for. */
const lateMarkMs = 1500;

/** A chunk in which there is nothing to say is done: no audio will come. */
export function addChunk(playback: Playback, text: string): Playback {
  return { ...playback, chunks: [...playback.chunks, newChunk(text)] };
}

/** `ms` of audio of a chunk was sent at `now`; chunks are sent one after the other. */
export function addAudio(playback: Playback, index: number, ms: number, now: number): Playback {
  const grown = changeChunk(playback, index, (chunk) => ({ ...chunk, ms: chunk.ms + ms }));
  return { ...grown, endsAt: Math.max(playback.endsAt, now) + ms };
}

export function finishChunk(playback: Playback, index: number): Playback {
  return changeChunk(playback, index, (chunk) => ({ ...chunk, done: true }));
}

/** The audio so far will be followed by the whole chunk from its beginning. */
export function restartChunk(playback: Playback, index: number): Playback {
  return changeChunk(playback, index, (chunk) => ({ ...chunk, lostMs: chunk.ms }));
}

/**
 * The client drops what it has not played. The chunks so far keep what was heard of them, and are
 * done; what was not heard follows as new chunks, so that nothing said of the old ones, and no mark
 * of theirs, can be taken for them.
 */
export function stopPlayback(playback: Playback, heard: Heard, now: number): Playback {
  const kept: PlaybackChunk[] = [];
  const rest: PlaybackChunk[] = [];
  let letters = heard.text.length;
  let ms = heard.ms;
  for (const chunk of playback.chunks) {
    const missing = chunk.text.slice(letters);
    const isMissing = missing.trim() !== "";
    const text = isMissing ? chunk.text.slice(0, letters) : chunk.text;
    const played = Math.min(chunk.ms, ms);
    kept.push({ text, ms: played, lostMs: 0, done: true });
    if (isMissing) rest.push(newChunk(missing));
    letters = Math.max(0, letters - chunk.text.length);
    ms -= played;
  }
  return { chunks: [...kept, ...rest], endsAt: now, echoed: kept.length - 1 };
}

export function echoMark(playback: Playback, index: number, now: number): Playback {
  if (index <= playback.echoed || !playback.chunks[index]?.done) return playback;
  const notYetPlayed = sentMs(playback) - msThrough(playback, index);
  return { ...playback, echoed: index, endsAt: now + notYetPlayed };
}

/**
 * What was heard by `now`: whole chunks, and of the one being played the words of which at least
 * half was played. The text is always the beginning of the chunks' text. `echoes`: this client
 * echoes marks, so it cannot be further than one chunk after the last echoed one.
 */
export function heardBy(playback: Playback, now: number, echoes: boolean): Heard {
  const limit = echoes ? msThrough(playback, playback.echoed + 1) : Number.POSITIVE_INFINITY;
  const played = Math.min(playedMs(playback, now), limit);
  if (played <= 0) return { text: "", ms: 0 };
  const msPerLetter = measuredMsPerLetter(playback);
  let text = "";
  let before = 0;
  for (const chunk of playback.chunks) {
    const inChunk = played - before;
    if (!chunk.done || inChunk < chunk.ms) {
      text += firstWords(chunk.text, shareHeard(chunk, inChunk, msPerLetter));
      break;
    }
    text += chunk.text;
    before += chunk.ms;
  }
  return { text, ms: Math.round(played) };
}

/** The chunks of which something was not heard, from their beginning. */
export function textNotHeard(playback: Playback, heard: Heard): string {
  let length = 0;
  const index = playback.chunks.findIndex((chunk) => {
    length += chunk.text.trimEnd().length;
    const missing = heard.text.length < length;
    length += chunk.text.length - chunk.text.trimEnd().length;
    return missing;
  });
  if (index < 0) return "";
  return playback.chunks
    .slice(index)
    .map((chunk) => chunk.text)
    .join("");
}

/** How much of the audio sent the caller has yet to hear, in ms. */
export function aheadMs(playback: Playback, now: number): number {
  return Math.max(0, playback.endsAt - now);
}

/** When the caller will have heard all chunks; `null` while audio is still to come. */
export function playedAt(playback: Playback, echoes: boolean): number | null {
  if (playback.chunks.some((chunk) => !chunk.done)) return null;
  const lastWithAudio = playback.chunks.findLastIndex((chunk) => chunk.ms > 0);
  const awaitsMark = echoes && playback.echoed < lastWithAudio;
  return playback.endsAt + (awaitsMark ? lateMarkMs : 0);
}

export function sentMs(playback: Playback): number {
  return msThrough(playback, playback.chunks.length - 1);
}

function msThrough(playback: Playback, index: number): number {
  return playback.chunks.slice(0, index + 1).reduce((sum, chunk) => sum + chunk.ms, 0);
}

function playedMs(playback: Playback, now: number): number {
  return sentMs(playback) - aheadMs(playback, now);
}

function shareHeard(chunk: PlaybackChunk, played: number, msPerLetter: number): number {
  const soFar = chunk.ms - chunk.lostMs;
  const whole = chunk.done ? soFar : Math.max(soFar, spokenLength(chunk.text) * msPerLetter);
  const ofThisAttempt = Math.max(0, played - chunk.lostMs);
  const ofLostAttempt = Math.max(0, Math.min(played, chunk.lostMs));
  return whole === 0 ? 0 : Math.min(1, Math.max(ofThisAttempt, ofLostAttempt) / whole);
}

function measuredMsPerLetter({ chunks }: Playback): number {
  const measured = chunks.filter((chunk) => chunk.done && chunk.ms > 0);
  const letters = measured.reduce((sum, chunk) => sum + spokenLength(chunk.text), 0);
  const ms = measured.reduce((sum, chunk) => sum + chunk.ms - chunk.lostMs, 0);
  return letters > 0 ? ms / letters : usualMsPerLetter;
}

function newChunk(text: string): PlaybackChunk {
  return { text, ms: 0, lostMs: 0, done: isSilent(text) };
}

function changeChunk(
  playback: Playback,
  index: number,
  change: (chunk: PlaybackChunk) => PlaybackChunk,
): Playback {
  const chunks = playback.chunks.map((chunk, i) => (i === index ? change(chunk) : chunk));
  return { ...playback, chunks };
}
