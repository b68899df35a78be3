import type { Outcome } from "./load.ts";

export type Measured = {
  name: string;
  /** Under load; the times are those of the server's process, null where the system tells none. */
  rounds: (Outcome & { cpuMs: number | null; waitedMs: number | null })[];
  /** Of requests one after the other, in ms. */
  latencies: number[];
};

const GOAL = 0.8;

/** A table, and as its last line the ratio of the third lane to the first. */
export function printReport(lanes: Measured[]): void {
  const [bare, , ordinary] = lanes;
  if (!bare || !ordinary) throw new Error("The lanes are missing");
  console.table(Object.fromEntries(lanes.map((lane) => [lane.name, row(lane, bare)])));
  const { refused, failed } = total(lanes);
  console.log(`not counted: ${refused} refused by a rate limit, ${failed} failed`);
  console.log(`ratio ${ratio(ordinary, bare).toFixed(2)} (goal ≥ ${GOAL.toFixed(2)})`);
}

function row(lane: Measured, bare: Measured) {
  const sorted = lane.latencies.toSorted((a, b) => a - b);
  return {
    "req/s": Math.round(median(lane.rounds.map(rate))),
    ratio: ratio(lane, bare).toFixed(2),
    "middle half": spread(lane, bare),
    "CPU ms/req": perRequest(lane, "cpuMs"),
    "wait ms/req": perRequest(lane, "waitedMs"),
    "p50 ms": quantile(sorted, 0.5).toFixed(2),
    "p99 ms": quantile(sorted, 0.99).toFixed(2),
  };
}

const rate = (round: Outcome) => round.ok / round.seconds;

/** Round by round, each compared with its neighbour in time. */
function ratios(lane: Measured, bare: Measured): number[] {
  return lane.rounds.map((round, index) => {
    const other = bare.rounds[index];
    return other ? rate(round) / rate(other) : Number.NaN;
  });
}

const ratio = (lane: Measured, bare: Measured) => median(ratios(lane, bare));

/** How far the rounds agree: a wide one says that the machine was busy. */
function spread(lane: Measured, bare: Measured): string {
  const sorted = ratios(lane, bare).toSorted((a, b) => a - b);
  return `${quantile(sorted, 0.25).toFixed(2)} to ${quantile(sorted, 0.75).toFixed(2)}`;
}

function perRequest(lane: Measured, what: "cpuMs" | "waitedMs"): string {
  const known = lane.rounds.flatMap((round) => {
    const ms = round[what];
    return ms === null ? [] : [ms / (round.ok + round.refused + round.failed)];
  });
  return known.length === 0 ? "-" : median(known).toFixed(3);
}

function total(lanes: Measured[]): { refused: number; failed: number } {
  const rounds = lanes.flatMap((lane) => lane.rounds);
  return {
    refused: rounds.reduce((sum, round) => sum + round.refused, 0),
    failed: rounds.reduce((sum, round) => sum + round.failed, 0),
  };
}

function median(values: number[]): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}

/** The nearest rank: always one of the values. */
function quantile(sorted: number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
