/** An exact sliding window: at no instant more than `limit` accepted within the last `WINDOW_MS`. */
export const WINDOW_MS = 60_000;
export const KEY_LIMIT = 60;
export const ORGANIZATION_LIMIT = 300;

/** Times of accepted requests in ms, oldest first. */
export type Window = number[];

export type WindowState = {
  /** How many more would be accepted now. */
  remaining: number;
  /** Ms until one more slot is free than now; 0 when nothing is used up. */
  resetMs: number;
};

/** Drops what has left the window. An acceptance counts for the whole of `WINDOW_MS`. */
export function slide(window: Window, now: number): void {
  let gone = 0;
  while (gone < window.length && (window[gone] ?? now) <= now - WINDOW_MS) gone++;
  if (gone > 0) window.splice(0, gone);
}

export function stateOf(window: Window, limit: number, now: number): WindowState {
  const oldest = window[0];
  return {
    remaining: Math.max(0, limit - window.length),
    resetMs: oldest === undefined ? 0 : Math.max(0, oldest + WINDOW_MS - now),
  };
}
