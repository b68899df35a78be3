import type { Recorder } from "../stand-in.ts";

/** `at` is the ISO time it was recorded; the other fields are the stand-in's own. */
export type Received = { [field: string]: unknown; at: string; kind: string };

/** What the outside parties got. Only the newest `limit` entries are kept, oldest first. */
export type Recordings = {
  record: Recorder;
  list(kind?: string): Received[];
  clear(): void;
};

export function createRecorder(limit: number): Recordings {
  let entries: Received[] = [];
  return {
    record(kind, entry) {
      entries.push({ ...entry, at: new Date().toISOString(), kind });
      if (entries.length > limit) entries.shift();
    },
    list: (kind) => entries.filter((entry) => kind === undefined || entry.kind === kind),
    clear() {
      entries = [];
    },
  };
}
