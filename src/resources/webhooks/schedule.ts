const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Seconds before each attempt, counted from the end of the one before. */
const DELAYS = [
  0,
  5,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;

export const MAX_ATTEMPTS = DELAYS.length;

/**
 * Seconds until the attempt after `attempt` (from 1), or null when that was the last. A fifth up or
 * down, so that a receiver that comes back is not met by everybody at once; `random` is in [0, 1).
 * A receiver may ask for more patience, but not for more than the next step.
 */
export function nextDelay(
  attempt: number,
  random: number,
  retryAfterSeconds: number | null,
): number | null {
  const delay = DELAYS[attempt];
  if (delay === undefined) return null;
  const jittered = delay * (0.8 + 0.4 * random);
  const ceiling = DELAYS[attempt + 1] ?? delay;
  return Math.max(jittered, Math.min(retryAfterSeconds ?? 0, ceiling));
}
