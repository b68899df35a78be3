import { Cron } from "croner";
import { bodyView, type Settings, settingsView } from "./message.ts";
import { Refused } from "./refused.ts";
import type { Store } from "./store.ts";

type Row = {
  id: string;
  cron: string;
  next_at: number;
  paused: number;
  created_at: number;
  last_at: number | null;
  settings: string;
  body: Uint8Array;
};

/** `createdAt` is on the real clock, `nextAt` and `lastAt` on the queue's. */
export type Schedule = {
  id: string;
  cron: string;
  nextAt: number;
  paused: boolean;
  createdAt: number;
  lastAt?: number;
  settings: Settings;
  body: Uint8Array;
};

/** The first time after `from` (unix milliseconds). Throws `Refused` (400) on a bad expression. */
export function nextRun(cron: string, from: number): number {
  const [, timezone = "UTC", pattern = ""] = /^(?:CRON_TZ=(\S+)\s+)?(.*)$/.exec(cron.trim()) ?? [];
  if (pattern.split(/\s+/).length !== 5) {
    throw new Refused(400, "invalid cron expression: it must have five fields");
  }
  const next = parsed(pattern, timezone).nextRun(new Date(from));
  if (!next) throw new Refused(400, "invalid cron expression: it never fires");
  return next.getTime();
}

function parsed(pattern: string, timezone: string): Cron {
  try {
    const cron = new Cron(pattern, { timezone, paused: true });
    // An unknown time zone only shows when it is used.
    cron.nextRun();
    return cron;
  } catch (error) {
    throw new Refused(400, `invalid cron expression: ${(error as Error).message}`);
  }
}

/** Creates the schedule, or takes the place of the one with its id. */
export function saveSchedule(store: Store, schedule: Schedule): void {
  store
    .prepare("INSERT OR REPLACE INTO schedules VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
    .run(
      schedule.id,
      schedule.cron,
      schedule.nextAt,
      Number(schedule.paused),
      schedule.createdAt,
      schedule.lastAt ?? null,
      JSON.stringify(schedule.settings),
      schedule.body,
    );
}

export function listSchedules(store: Store): Schedule[] {
  const rows = store.prepare("SELECT * FROM schedules ORDER BY created_at, id").all();
  return rows.map((row) => fromRow(row as Row));
}

/** In the order they are due. */
export function dueSchedules(store: Store, now: number): Schedule[] {
  const rows = store
    .prepare("SELECT * FROM schedules WHERE paused = 0 AND next_at <= ? ORDER BY next_at")
    .all(now);
  return rows.map((row) => fromRow(row as Row));
}

export function findSchedule(store: Store, id: string): Schedule {
  const row = store.prepare("SELECT * FROM schedules WHERE id = ?").get(id);
  if (!row) throw new Refused(404, `schedule ${id} not found`);
  return fromRow(row as Row);
}

export function removeSchedule(store: Store, id: string): void {
  store.prepare("DELETE FROM schedules WHERE id = ?").run(id);
}

/** `offset` is how far the queue's clock is ahead: the view shows real times. */
export function scheduleView(schedule: Schedule, offset: number) {
  const { settings } = schedule;
  return {
    scheduleId: schedule.id,
    cron: schedule.cron,
    createdAt: schedule.createdAt,
    destination: settings.url,
    ...settingsView(settings),
    ...bodyView("body", schedule.body),
    retries: settings.retries,
    delay: settings.delayMs > 0 ? settings.delayMs / 1000 : undefined,
    isPaused: schedule.paused,
    nextScheduleTime: schedule.paused ? undefined : schedule.nextAt - offset,
    lastScheduleTime: schedule.lastAt === undefined ? undefined : schedule.lastAt - offset,
  };
}

function fromRow(row: Row): Schedule {
  return {
    id: row.id,
    cron: row.cron,
    nextAt: row.next_at,
    paused: row.paused === 1,
    createdAt: row.created_at,
    lastAt: row.last_at ?? undefined,
    settings: JSON.parse(row.settings) as Settings,
    body: row.body,
  };
}
