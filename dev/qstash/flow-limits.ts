import type { FlowControl } from "./message.ts";

type Flow = { inFlight: number; windowStart: number; started: number };

/** What each flow-control key has under way. Lost on restart, when nothing is under way. */
export type FlowLimits = Map<string, Flow>;

/** `blockedKey` waits for another of its key to end; `notBefore` is on the queue's clock. */
export type Verdict = "start" | { blockedKey: string } | { notBefore: number };

/** Whether a message may start now. The answer `"start"` counts it as under way. */
export function admit(limits: FlowLimits, control: FlowControl | undefined, now: number): Verdict {
  if (!control) return "start";
  const flow = limits.get(control.key) ?? { inFlight: 0, windowStart: now, started: 0 };
  limits.set(control.key, flow);
  if (control.parallelism !== undefined && flow.inFlight >= control.parallelism) {
    return { blockedKey: control.key };
  }
  if (now >= flow.windowStart + control.periodMs) {
    flow.windowStart = now;
    flow.started = 0;
  }
  if (control.rate !== undefined && flow.started >= control.rate) {
    return { notBefore: flow.windowStart + control.periodMs };
  }
  flow.started += 1;
  flow.inFlight += 1;
  return "start";
}

export function release(limits: FlowLimits, control: FlowControl | undefined): void {
  const flow = control && limits.get(control.key);
  if (flow) flow.inFlight -= 1;
}
