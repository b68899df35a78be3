import type { EndReason } from "../../voice/turn.ts";

/** The numbers of the wire. 3 to 7 are final: a call that has one keeps it. */
export const callStatus = {
  initiated: 0,
  ringing: 1,
  inProgress: 2,
  completed: 3,
  failed: 4,
  noAnswer: 5,
  busy: 6,
  canceled: 7,
} as const;

export const OPEN_STATUSES = [
  callStatus.initiated,
  callStatus.ringing,
  callStatus.inProgress,
] as const;

/** A call that nobody joined was not answered, however it came to its end. */
export function statusOfEnd(reason: EndReason, wasJoined: boolean): number {
  switch (reason) {
    case "error":
      return callStatus.failed;
    case "busy":
      return callStatus.busy;
    case "canceled":
      return callStatus.canceled;
    case "not_joined":
    case "no_answer":
      return callStatus.noAnswer;
    default:
      return wasJoined ? callStatus.completed : callStatus.canceled;
  }
}

export const isOpen = (status: number) => status < callStatus.completed;
