import type { Stored } from "./store.ts";

export type Deadline = "write" | "begin" | "not_joined" | "disconnected" | "pulse" | "tick";

/** Of a call that is over. */
export const nothingDue = { beginAt: null, rejoinBy: null, pulseAt: null, turnAt: null };

/** Everything a call waits for, with its time in ms since the epoch; one alarm serves them all. */
function deadlinesOf(state: Readonly<Stored>): [Deadline, number][] {
  const { preparation, joinedAt, ending, beginAt, rejoinBy, pulseAt, turnAt, writeAt } = state;
  const joinBy = joinedAt === null && ending === null ? preparation?.joinBy : null;
  const all: [Deadline, number | null | undefined][] = [
    ["write", writeAt],
    ["begin", beginAt],
    ["not_joined", joinBy],
    ["disconnected", rejoinBy],
    ["pulse", pulseAt],
    ["tick", turnAt],
  ];
  return all.filter((entry): entry is [Deadline, number] => typeof entry[1] === "number");
}

export function nextDeadline(state: Readonly<Stored>): number | null {
  const times = deadlinesOf(state).map(([, at]) => at);
  return times.length > 0 ? Math.min(...times) : null;
}

/** What is due, in the order in which it should be done. */
export function dueDeadlines(state: Readonly<Stored>, now: number): Deadline[] {
  return deadlinesOf(state)
    .filter(([, at]) => at <= now)
    .map(([deadline]) => deadline);
}
