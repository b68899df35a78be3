import type { Store } from "./store.ts";

/** Times the queue waits for. It runs with the real clock, moved forward by `offset` milliseconds. */
export type Clock = {
  now(): number;
  offset(): number;
  moveTo(offset: number): void;
};

/** The offset is kept with the messages, whose due times are on this clock. */
export function storedClock(store: Store): Clock {
  const row = store.prepare("SELECT offset_ms AS offset FROM clock").get() as
    | { offset: number }
    | undefined;
  if (!row) store.exec("INSERT INTO clock VALUES (0)");
  let offset = row?.offset ?? 0;
  return {
    now: () => Date.now() + offset,
    offset: () => offset,
    moveTo(next) {
      offset = Math.round(next);
      store.prepare("UPDATE clock SET offset_ms = ?").run(offset);
    },
  };
}
