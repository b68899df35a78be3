import { type BargeIn, type BargeIns, bargeIns, type Cost } from "./measures.ts";

export type Measured = {
  name: string;
  /** By round, in ms. */
  turns: number[][];
  bargeIns: BargeIns[];
  listening: Cost[];
  kbPerCall: number | null;
  steps: { calls: number; times: number[]; cost: Cost; ownLagMs: number }[];
};

/** Slower than this for one answer in a hundred is too slow. */
export const MAX_LAG_MS = 100;
const FRAME_US = 20_000;

export function newMeasured(name: string): Measured {
  return { name, turns: [], bargeIns: [], listening: [], kbPerCall: null, steps: [] };
}

export function printReport(all: Measured[]): void {
  const [ours, theirs] = all;
  if (!ours || !theirs) throw new Error("An engine is missing");
  table("end of turn → first audio, one call at a time, ms", all, ({ turns }) =>
    spread(turns.flat()),
  );
  const ratios = ours.turns.map(
    (round, index) => median(round) / median(theirs.turns[index] ?? []),
  );
  console.log(
    `ratio of the medians ${median(ratios).toFixed(2)} (goal ≤ 1.00), by round ${ratios.map((ratio) => ratio.toFixed(2)).join(" ")}`,
  );
  for (const kind of Object.keys(bargeIns) as BargeIn[]) {
    table(`first loud frame → told to stop, ${kind}, ms (goal ≤ 80)`, all, (each) =>
      toldToStop(each.bargeIns.flatMap((round) => round[kind])),
    );
  }
  table("calls that only listen (goal ≤ 60 µs a frame, 0.3 % of a core)", all, listening);
  for (const each of all) {
    console.log(`\ncalls at once on one core, ${each.name}`);
    console.table(each.steps.map(step));
    const inTime = each.steps.filter(({ times }) => quantile(times, 0.99) <= MAX_LAG_MS);
    console.log(`at ≤ ${MAX_LAG_MS} ms for 99 of 100: ${inTime.at(-1)?.calls ?? "none"}`);
  }
}

function table(title: string, all: Measured[], row: (each: Measured) => object): void {
  console.log(`\n${title}`);
  console.table(Object.fromEntries(all.map((each) => [each.name, row(each)])));
}

function spread(times: number[]) {
  return {
    turns: times.length,
    p50: ms(quantile(times, 0.5)),
    p95: ms(quantile(times, 0.95)),
    p99: ms(quantile(times, 0.99)),
  };
}

function toldToStop(times: (number | null)[]) {
  const told = times.filter((time) => time !== null);
  const some = (share: number) => (told.length === 0 ? "-" : ms(quantile(told, share)));
  return { told: `${told.length} of ${times.length}`, p50: some(0.5), max: some(1) };
}

function listening({ listening: rounds, kbPerCall }: Measured) {
  const known = rounds.filter((round) => round !== null);
  const perFrame = (what: "cpuMs" | "waitedMs") =>
    known.length === 0 ? null : median(known.map((round) => (round[what] * 1_000) / round.frames));
  const cpu = perFrame("cpuMs");
  return {
    "CPU µs a frame": whole(cpu),
    "% of a core a call": cpu === null ? "-" : ((cpu / FRAME_US) * 100).toFixed(2),
    "waited µs a frame": whole(perFrame("waitedMs")),
    "kB a call": whole(kbPerCall),
  };
}

function step({ calls, times, cost, ownLagMs }: Measured["steps"][number]) {
  const share = (what: "cpuMs" | "waitedMs") =>
    cost ? `${Math.round((cost[what] / cost.wallMs) * 100)} %` : "-";
  return {
    calls,
    ...spread(times),
    "of the core": share("cpuMs"),
    "neighbours took": share("waitedMs"),
    "callers' own lag": ms(ownLagMs),
  };
}

const ms = (value: number) => value.toFixed(1);
const whole = (value: number | null) => (value === null ? "-" : Math.round(value));

function median(values: number[]): number {
  return quantile(values, 0.5);
}

/** The nearest rank: always one of the values. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
