import type { EndReason } from "../../../voice/turn.ts";
import type { Stored } from "./store.ts";

export const ABUSE = 4400;

/** A client that closes cleanly hangs up; these are the codes of doing so. */
const CLEAN_CLOSE = [1000, 1001, 1005];

/** The answer to a handshake: 101, or the HTTP status of the refusal. */
export function admitClient(
  url: URL,
  { preparation, ending, over }: Pick<Stored, "preparation" | "ending" | "over">,
): 101 | 401 | 404 | 409 {
  const agentId = url.searchParams.get("assistant_id");
  // The wrong agent's id must not learn that the call exists.
  const known = over?.agentId ?? preparation?.agent.id;
  if (known === undefined || known !== agentId) return 404;
  const end = over ?? ending;
  if (end) return end.reason === "key_revoked" ? 401 : 409;
  return 101;
}

export function isHangUp(code: number): boolean {
  return CLEAN_CLOSE.includes(code);
}

export function closeCodeOf(reason: EndReason): number {
  switch (reason) {
    case "key_revoked":
      return 4401;
    case "idle":
      return 4408;
    case "error":
      return 1011;
    default:
      return 1000;
  }
}

/** Completes the closing handshake; 1005 and 1006 say that there was no code, and cannot be sent. */
export function answerClose(socket: WebSocket, code: number): void {
  try {
    if (code === 1005) socket.close();
    else if (code !== 1006) socket.close(code);
  } catch {
    // It is closed already.
  }
}
