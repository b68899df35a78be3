import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { type Caller, joinCall, type Metronome, startMetronome } from "./voice/caller.ts";
import { type Engine, startOurs, startTheirs } from "./voice/engines.ts";
import { bargeInsOf, listeningCost, residentKb, turnsAtOnce, turnsOf } from "./voice/measures.ts";
import { MAX_LAG_MS, type Measured, newMeasured, printReport, quantile } from "./voice/report.ts";

const ROUNDS = 5;
const TURNS = 40;
const BARGE_INS = 4;
const LISTENING = { calls: 50, ms: 3_000 };
/** Calls at once on one core, as far as the answers come in time. */
const STEPS = [25, 50, 75, 100, 150, 200];
const STEP = { ms: 6_000, everyMs: 3_000 };

type Lane = { engine: Engine; callers: Caller[]; measured: Measured };

/** This service's engine and another one, in turn, on the same runtime and the same stand-ins. */
export async function run(): Promise<void> {
  const directory = mkdtempSync(path.join(tmpdir(), "voice-bench-"));
  const cleanUp: (() => unknown)[] = [
    () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }),
  ];
  try {
    const standIns = new Worker(new URL("./voice/stub.ts", import.meta.url));
    cleanUp.push(() => standIns.terminate());
    const [port] = await once(standIns, "message");
    const engines: Engine[] = [];
    for (const start of [startOurs, startTheirs]) {
      const engine = await start(directory, `http://127.0.0.1:${port}`);
      cleanUp.push(() => engine.stop());
      engines.push(engine);
    }
    const { beat, stop } = startMetronome();
    cleanUp.push(stop);
    const lanes = engines.map((engine) => ({
      engine,
      callers: [],
      measured: newMeasured(engine.name),
    }));
    await oneCallAtATime(lanes, beat);
    await manyCalls(lanes, beat);
    await callsOnOneCore(lanes, beat);
    printReport(lanes.map(({ measured }) => measured));
  } finally {
    for (const step of cleanUp.reverse()) await step();
  }
}

/** Forwards and backwards in turn: whoever comes second in a round comes first in the next. */
function inTurn(lanes: Lane[], round: number): Lane[] {
  return round % 2 === 0 ? lanes : lanes.toReversed();
}

async function oneCallAtATime(lanes: Lane[], beat: Metronome): Promise<void> {
  for (const { engine } of lanes) await turnsOf(engine, beat, 3);
  for (let round = 0; round < ROUNDS; round++) {
    console.error(`round ${round + 1} of ${ROUNDS} …`);
    for (const { engine, measured } of inTurn(lanes, round)) {
      measured.turns.push(await turnsOf(engine, beat, TURNS));
      measured.bargeIns.push(await bargeInsOf(engine, beat, BARGE_INS));
    }
  }
}

async function manyCalls(lanes: Lane[], beat: Metronome): Promise<void> {
  console.error(`${LISTENING.calls} calls at once …`);
  for (const lane of lanes) {
    const before = residentKb(lane.engine.pid);
    await growTo(lane, LISTENING.calls, beat);
    await turnsAtOnce(lane.engine, lane.callers, { ms: 3_000, everyMs: 3_000 });
    const after = residentKb(lane.engine.pid);
    lane.measured.kbPerCall = before && after && (after - before) / LISTENING.calls;
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const { engine, callers, measured } of inTurn(lanes, round)) {
      measured.listening.push(await listeningCost(engine, callers, LISTENING.ms));
    }
  }
}

async function callsOnOneCore(lanes: Lane[], beat: Metronome): Promise<void> {
  const core = cpus().length - 1;
  const isPinned = lanes.every(({ engine }) => pin(engine.pid, core));
  if (!isPinned) console.error("the engines could not be kept on one core (taskset)");
  const going = new Set(lanes);
  for (const [index, calls] of STEPS.entries()) {
    for (const lane of inTurn([...going], index)) {
      console.error(`${calls} calls at once, ${lane.engine.name} …`);
      await growTo(lane, calls, beat);
      const step = { calls, ...(await turnsAtOnce(lane.engine, lane.callers, STEP)) };
      lane.measured.steps.push(step);
      const [last, before] = lane.measured.steps.slice(-2).reverse();
      // One step may have failed because of others on the machine.
      if (last && before && [last, before].every(isTooSlow)) going.delete(lane);
    }
  }
}

const isTooSlow = ({ times }: { times: number[] }) => quantile(times, 0.99) > MAX_LAG_MS;

/** Joins calls, a few at once, until there are so many; all are left muted. */
async function growTo(lane: Lane, calls: number, beat: Metronome): Promise<void> {
  const { engine, callers } = lane;
  while (callers.length < calls) {
    const some = Math.min(5, calls - callers.length);
    const joined = Array.from({ length: some }, async () =>
      joinCall(await engine.newCall(), engine.dialect, beat),
    );
    for (const caller of await Promise.all(joined)) {
      caller.mute(true);
      callers.push(caller);
    }
  }
}

function pin(pid: number, core: number): boolean {
  return spawnSync("taskset", ["-a", "-p", "-c", String(core), String(pid)]).status === 0;
}
