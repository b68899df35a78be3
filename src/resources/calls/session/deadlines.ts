import type { Stored } from "./store.ts";

export type Deadline = "write" | "begin" | "not_joined" | "disconnected" | "tick";

/** Everything a call waits for, with its time in ms since the epoch; one alarm serves them all. */
function deadlinesOf(state: Readonly<Stored>): [Deadline, number][] {
  const { preparation, joinedAt, ending, beginAt, rejoinBy, turnAt, writeAt } = state;
  const joinBy = joinedAt === null && ending === null ? preparation?.joinBy : null;
  const all: [Deadline, number | null | undefined][] = [
    ["write", writeAt],
    ["begin", beginAt],
    ["not_joined", joinBy],
    ["disconnected", rejoinBy],
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
