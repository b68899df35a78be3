import type { Options } from "../../context.ts";
import { resolvesToPublic } from "./resolve.ts";

const DEADLINE_MS = 10_000;
const KEPT_BYTES = 64 * 1024;

/** The class of what went wrong on the way. */
type SendError = "timeout" | "connection_failed" | "forbidden_address";

export type Answer = {
  /** 0 when nothing answered. */
  status: number;
  body: string;
  durationMs: number;
  /** Null when there was an answer. */
  error: SendError | null;
  retryAfterSeconds: number | null;
};

/**
 * One attempt. The deadline covers connecting, headers and body; redirects are not followed, and of
 * the answer no more is read than is kept.
 */
export async function send(
  url: string,
  request: { headers: Record<string, string>; body: string },
  options: Pick<Options, "webhookDnsUrl" | "webhookDevOrigins">,
): Promise<Answer> {
  const began = Date.now();
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const nothing = (error: SendError): Answer => {
    const durationMs = Date.now() - began;
    return { status: 0, body: error, durationMs, error, retryAfterSeconds: null };
  };
  try {
    if (!(await mayBeCalled(url, options, signal))) return nothing("forbidden_address");
    const response = await fetch(url, {
      method: "POST",
      headers: request.headers,
      body: request.body,
      redirect: "manual",
      signal,
    });
    const body = await readSome(response);
    return {
      status: response.status,
      body,
      durationMs: Date.now() - began,
      error: null,
      retryAfterSeconds: secondsUntil(response.headers.get("retry-after"), began),
    };
  } catch {
    return nothing(signal.aborted ? "timeout" : "connection_failed");
  }
}

/** With the operator's switch on, the name is asked for before each attempt: it may have moved. */
async function mayBeCalled(
  url: string,
  { webhookDnsUrl, webhookDevOrigins }: Pick<Options, "webhookDnsUrl" | "webhookDevOrigins">,
  signal: AbortSignal,
): Promise<boolean> {
  const { hostname, origin } = new URL(url);
  if (webhookDnsUrl === null || webhookDevOrigins.includes(origin)) return true;
  return resolvesToPublic(webhookDnsUrl, hostname, signal);
}

/** `Retry-After` is a number of seconds or a date. */
function secondsUntil(text: string | null, now: number): number | null {
  if (text === null) return null;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1000;
  return seconds >= 0 ? seconds : null;
}

/** Chunks arrive inflated: what is compressed costs no more than what is read of it. */
async function readSome(response: Response): Promise<string> {
  const kept = new Uint8Array(KEPT_BYTES);
  let size = 0;
  for await (const chunk of response.body ?? []) {
    const room = chunk.subarray(0, KEPT_BYTES - size);
    kept.set(room, size);
    size += room.byteLength;
    if (size === KEPT_BYTES) break;
  }
  // Postgres refuses NUL in text, and a receiver may answer anything.
  return new TextDecoder().decode(kept.subarray(0, size)).replaceAll("\0", "\uFFFD");
}
