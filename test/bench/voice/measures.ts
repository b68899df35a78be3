import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { type ProcessTime, processTime } from "../support/process-time.ts";
import { type Caller, joinCall, type Metronome } from "./caller.ts";
import type { Engine } from "./engines.ts";
import { AT_ONCE, PACED, SHORT } from "./script.ts";

/** Over some time, in ms; null where the system tells none. */
export type Cost = { cpuMs: number; waitedMs: number; wallMs: number; frames: number } | null;

export type BargeIns = Record<BargeIn, (number | null)[]>;
export type BargeIn = keyof typeof bargeIns;

/** Which answer is spoken into, and whether the recogniser tells that the caller began to speak. */
export const bargeIns = {
  "while the voice still sends": { line: PACED, unannounced: false },
  "when all audio was sent": { line: AT_ONCE, unannounced: false },
  "the recogniser says nothing": { line: PACED, unannounced: true },
} as const;

/** Turns one after the other in a call of their own, in ms. */
export async function turnsOf(engine: Engine, beat: Metronome, count: number): Promise<number[]> {
  const caller = await joinCall(await engine.newCall(), engine.dialect, beat);
  const times: number[] = [];
  for (let turn = 0; turn < count; turn++) {
    times.push(await caller.ask(SHORT));
    await caller.silent();
  }
  caller.close();
  return times;
}

/** Each kind in a call of its own, at random moments of the answer, all kinds at once. */
export async function bargeInsOf(
  engine: Engine,
  beat: Metronome,
  count: number,
): Promise<BargeIns> {
  const measured = Object.entries(bargeIns).map(async ([name, { line, unannounced }]) => {
    const caller = await joinCall(await engine.newCall(), engine.dialect, beat);
    const times: (number | null)[] = [];
    for (let each = 0; each < count; each++) {
      await caller.ask(line);
      await delay(500 + 800 * Math.random());
      times.push(await caller.bargeIn({ unannounced }));
    }
    caller.close();
    return [name, times] as const;
  });
  return Object.fromEntries(await Promise.all(measured)) as BargeIns;
}

/** What the engine's process costs while the callers only keep their microphones open. */
export async function listeningCost(
  engine: Engine,
  callers: readonly Caller[],
  ms: number,
): Promise<Cost> {
  return costOf(engine, callers, () => delay(ms));
}

/** All callers ask in turn, again and again, spread over the time. */
export async function turnsAtOnce(
  engine: Engine,
  callers: readonly Caller[],
  { ms, everyMs }: { ms: number; everyMs: number },
) {
  const times: number[] = [];
  const loop = monitorEventLoopDelay({ resolution: 5 });
  const cost = await costOf(engine, callers, async () => {
    loop.enable();
    const until = performance.now() + ms;
    const asking = callers.map(async (caller, index) => {
      await delay((index / callers.length) * everyMs);
      while (performance.now() < until) {
        const next = performance.now() + everyMs;
        // Nothing within the deadline is the worst answer, not no answer.
        times.push(await caller.ask(SHORT).catch(() => Number.POSITIVE_INFINITY));
        await caller.silent();
        await delay(Math.max(0, next - performance.now()));
      }
    });
    await Promise.all(asking);
    loop.disable();
  });
  return { times, cost, ownLagMs: loop.percentile(99) / 1e6 - 5 };
}

async function costOf(
  engine: Engine,
  callers: readonly Caller[],
  during: () => Promise<unknown>,
): Promise<Cost> {
  const frames = () => callers.reduce((sum, caller) => sum + caller.framesSent(), 0);
  for (const caller of callers) caller.mute(false);
  await delay(200);
  const began = { at: performance.now(), frames: frames(), time: processTime(engine.pid) };
  await during();
  const ended = { at: performance.now(), frames: frames(), time: processTime(engine.pid) };
  for (const caller of callers) caller.mute(true);
  if (!began.time || !ended.time) return null;
  const spent = (what: keyof ProcessTime) => (ended.time?.[what] ?? 0) - (began.time?.[what] ?? 0);
  return {
    cpuMs: spent("cpuMs"),
    waitedMs: spent("waitedMs"),
    wallMs: ended.at - began.at,
    frames: ended.frames - began.frames,
  };
}

/** Resident memory of a process in kB, null where there is no `/proc`. */
export function residentKb(pid: number): number | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN);
  } catch {
    return null;
  }
}
