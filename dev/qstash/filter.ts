import type { messageView } from "./message.ts";
import { Refused } from "./refused.ts";

type Subject = ReturnType<typeof messageView> & {
  dlqId?: string;
  state?: string;
  responseStatus?: number;
  time?: number;
};

const FACTS: Record<string, (subject: Subject) => unknown[]> = {
  messageId: (subject) => [subject.messageId],
  messageIds: (subject) => [subject.messageId],
  dlqId: (subject) => [subject.dlqId],
  dlqIds: (subject) => [subject.dlqId],
  url: (subject) => [subject.url],
  host: (subject) => [new URL(subject.url).host],
  path: (subject) => [new URL(subject.url).pathname],
  label: (subject) => subject.labels ?? [],
  scheduleId: (subject) => [subject.scheduleId],
  flowControlKey: (subject) => [subject.flowControlKey],
  state: (subject) => [subject.state],
  responseStatus: (subject) => [subject.responseStatus],
};
const DATES = ["fromDate", "toDate"];
const PAGING = ["count", "cursor"];

/**
 * The test a query asks for. Values of one name are alternatives, different names must all hold.
 * Throws `Refused` (400) on a name it does not know: ignoring it would select too much.
 */
export function filter(query: URLSearchParams): (subject: Subject) => boolean {
  const names = [...new Set(query.keys())].filter((name) => !PAGING.includes(name));
  const unknown = names.find((name) => !DATES.includes(name) && !Object.hasOwn(FACTS, name));
  if (unknown) throw new Refused(400, `unknown filter: ${unknown}`);
  const from = Number(query.get("fromDate") ?? Number.NEGATIVE_INFINITY);
  const to = Number(query.get("toDate") ?? Number.POSITIVE_INFINITY);
  return (subject) => {
    const at = subject.time ?? subject.createdAt;
    if (at < from || at > to) return false;
    return names.every((name) => {
      const facts = FACTS[name]?.(subject).map(String);
      return !facts || query.getAll(name).some((value) => facts.includes(value));
    });
  };
}

/** The first `count` entries older than `cursor`, and the cursor for those after them. */
export function page<T extends { seq: number }>(
  entries: T[],
  query: URLSearchParams,
  defaultCount: number,
): { entries: T[]; cursor?: string } {
  const before = Number(query.get("cursor") ?? Number.POSITIVE_INFINITY);
  const count = Number(query.get("count") ?? defaultCount);
  if (!(count > 0) || Number.isNaN(before)) throw new Refused(400, "invalid count or cursor");
  const rest = entries.filter((entry) => entry.seq < before);
  const shown = rest.slice(0, count);
  return { entries: shown, cursor: rest.length > count ? String(shown.at(-1)?.seq) : undefined };
}
