import type { TranscriptEntry } from "../../../db/schema/index.ts";
import { serverSentEvent } from "../live-events.ts";

/** What of a call's messages its watchers see: what is settled, not the pieces it comes in. */
const WATCHED = ["user_transcript", "agent_text", "interruption", "state", "ended"];
/** Proxies cut a line on which nothing moves. */
const HEARTBEAT_MS = 15_000;
/** A watcher that reads more slowly than this has gone away or will not catch up. */
const MAX_UNREAD = 200;

export type Watchers = {
  /** A stream of server-sent events: what was said so far, then what happens. */
  add(entries: readonly TranscriptEntry[]): ReadableStream<Uint8Array>;
  tell(message: Record<string, unknown>): void;
  /** The call is over: all streams end. */
  close(): void;
};

/** Who looks at a live call from outside. They live as long as the object stays awake. */
export function openWatchers(): Watchers {
  const watchers = new Set<{ writer: WritableStreamDefaultWriter<Uint8Array>; unread: number }>();
  let heartbeat: ReturnType<typeof setInterval> | null = null;

  function stopWhenAlone() {
    if (watchers.size > 0) return;
    clearInterval(heartbeat);
    heartbeat = null;
  }

  function write(text: string) {
    const bytes = new TextEncoder().encode(text);
    for (const watcher of watchers) {
      watcher.unread += 1;
      const leave = () => {
        watchers.delete(watcher);
        stopWhenAlone();
      };
      if (watcher.unread > MAX_UNREAD) {
        leave();
        watcher.writer.abort().catch(() => undefined);
        continue;
      }
      watcher.writer.write(bytes).then(() => {
        watcher.unread -= 1;
      }, leave);
    }
  }

  return {
    add(entries) {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const watcher = { writer: writable.getWriter(), unread: 0 };
      const soFar = entries.map((entry) => serverSentEvent("transcript", entry)).join("");
      watcher.writer
        .write(new TextEncoder().encode(soFar || ": nothing was said yet\n\n"))
        .catch(() => undefined);
      watchers.add(watcher);
      heartbeat ??= setInterval(() => write(": still here\n\n"), HEARTBEAT_MS);
      return readable;
    },
    tell(message) {
      if (watchers.size === 0 || message["final"] === false) return;
      const { type, ...data } = message;
      if (WATCHED.includes(String(type))) write(serverSentEvent(String(type), data));
    },
    close() {
      for (const { writer } of watchers) writer.close().catch(() => undefined);
      watchers.clear();
      stopWhenAlone();
    },
  };
}
