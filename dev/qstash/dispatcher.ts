import type { Recorder } from "../stand-in.ts";
import { attempt } from "./attempt.ts";
import type { Clock } from "./clock.ts";
import { logEvent } from "./events.ts";
import { admit, type FlowLimits, release } from "./flow-limits.ts";
import type { Message } from "./message.ts";
import { publish, type Queue } from "./publish.ts";
import { dueSchedules, nextRun, saveSchedule } from "./schedules.ts";
import { settle } from "./settle.ts";
import { atomically, firstDue, nextDueAt, postpone, type Store, setActive } from "./store.ts";

const MOST_IN_FLIGHT = 100;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Sends what is due, when it is due. */
export type Dispatcher = Queue & {
  signingKey: string;
  record: Recorder;
  running: boolean;
  inFlight: Map<AbortController, Promise<void>>;
  limits: FlowLimits;
  /** Where an `advance` under way takes the clock: a schedule fires once on the way there. */
  horizon: number;
  advancing: Promise<void>;
  timer?: NodeJS.Timeout;
  pass?: NodeJS.Immediate;
  idlers: (() => void)[];
};

export function createDispatcher(options: {
  store: Store;
  clock: Clock;
  signingKey: string;
  record: Recorder;
}): Dispatcher {
  const dispatcher: Dispatcher = {
    ...options,
    running: false,
    inFlight: new Map(),
    limits: new Map(),
    horizon: options.clock.offset(),
    advancing: Promise.resolve(),
    idlers: [],
    // Many publishes in one turn of the event loop cost one pass.
    wake() {
      if (dispatcher.running) dispatcher.pass ??= setImmediate(() => dispatch(dispatcher));
    },
  };
  return dispatcher;
}

export function start(dispatcher: Dispatcher): void {
  dispatcher.running = true;
  dispatcher.wake();
}

/** Breaks off what is in flight; it stays on disk and is delivered again after the next open. */
export async function stop(dispatcher: Dispatcher): Promise<void> {
  dispatcher.running = false;
  clearTimeout(dispatcher.timer);
  clearImmediate(dispatcher.pass);
  for (const controller of dispatcher.inFlight.keys()) controller.abort(new Error("closed"));
  await Promise.all(dispatcher.inFlight.values());
  for (const resolve of dispatcher.idlers.splice(0)) resolve();
  await dispatcher.advancing;
}

/** Resolves when nothing is due or in flight; of a dispatcher not started, once it is. */
export function idle(dispatcher: Dispatcher): Promise<void> {
  return new Promise((resolve) => {
    dispatcher.idlers.push(resolve);
    dispatcher.wake();
  });
}

/** One `advance` after the other; see `QStash.advance`. */
export async function advance(dispatcher: Dispatcher, seconds: number): Promise<void> {
  if (!(seconds >= 0)) throw new RangeError("seconds must not be negative");
  dispatcher.advancing = dispatcher.advancing.then(() => advanceNow(dispatcher, seconds * 1000));
  await dispatcher.advancing;
}

async function advanceNow(dispatcher: Dispatcher, ms: number): Promise<void> {
  const { clock, store } = dispatcher;
  const target = clock.offset() + ms;
  dispatcher.horizon = target;
  while (dispatcher.running) {
    await idle(dispatcher);
    if (!dispatcher.running) return;
    const dueAt = nextDueAt(store, 0);
    const offset = dueAt === undefined ? Number.POSITIVE_INFINITY : dueAt - Date.now();
    if (offset > target) break;
    clock.moveTo(Math.max(offset, clock.offset()));
  }
  clock.moveTo(target);
  dispatcher.wake();
}

function dispatch(dispatcher: Dispatcher): void {
  const { clock, store, inFlight } = dispatcher;
  dispatcher.pass = undefined;
  clearTimeout(dispatcher.timer);
  const now = clock.now();
  fireSchedules(dispatcher, now);
  const blockedFlows: string[] = [];
  while (inFlight.size < MOST_IN_FLIGHT) {
    const message = firstDue(store, now, blockedFlows);
    if (!message) break;
    const verdict = admit(dispatcher.limits, message.settings.flow, now);
    if (verdict === "start") begin(dispatcher, message);
    else if ("blockedKey" in verdict) blockedFlows.push(verdict.blockedKey);
    else postpone(store, message, verdict.notBefore);
  }
  // What was due at `now` and is still here waits for an attempt to end, and that end wakes us.
  armTimer(dispatcher, now);
  if (inFlight.size === 0) for (const resolve of dispatcher.idlers.splice(0)) resolve();
}

function armTimer(dispatcher: Dispatcher, now: number): void {
  const dueAt = nextDueAt(dispatcher.store, now);
  if (dueAt === undefined) return;
  const wait = Math.max(0, dueAt - dispatcher.clock.now());
  dispatcher.timer = setTimeout(dispatcher.wake, Math.min(LONGEST_TIMER_MS, wait));
}

function begin(dispatcher: Dispatcher, message: Message): void {
  const controller = new AbortController();
  setActive(dispatcher.store, message.id);
  logEvent(dispatcher.store, message, "ACTIVE");
  dispatcher.inFlight.set(controller, deliver(dispatcher, message, controller));
}

async function deliver(
  dispatcher: Dispatcher,
  message: Message,
  controller: AbortController,
): Promise<void> {
  const outcome = await attempt(message, dispatcher.signingKey, controller);
  dispatcher.inFlight.delete(controller);
  release(dispatcher.limits, message.settings.flow);
  if (!dispatcher.running) return;
  dispatcher.record("queue", {
    url: message.settings.url,
    messageId: message.id,
    scheduleId: message.scheduleId,
    retried: message.retried,
    status: outcome.status,
    error: outcome.error,
    body: Buffer.from(message.body).toString("utf8"),
  });
  settle(dispatcher, message, outcome);
  dispatcher.wake();
}

function fireSchedules(dispatcher: Dispatcher, now: number): void {
  const { store } = dispatcher;
  for (const schedule of dueSchedules(store, now)) {
    atomically(store, () => {
      publish(dispatcher, schedule.settings, schedule.body, { scheduleId: schedule.id });
      // Runs missed while the process was down, or skipped over by `advance`, count as one.
      const after = Math.max(now, Date.now() + dispatcher.horizon);
      saveSchedule(store, { ...schedule, lastAt: now, nextAt: nextRun(schedule.cron, after) });
    });
  }
}
