const DEADLINE_MS = 10_000;
const KEPT_BYTES = 64 * 1024;

export type Answer = {
  /** 0 when nothing answered. */
  status: number;
  body: string;
  durationMs: number;
  /** The class of what went wrong on the way; null when there was an answer. */
  error: "timeout" | "connection_failed" | null;
  retryAfterSeconds: number | null;
};

/**
 * One attempt. The deadline covers connecting, headers and body; redirects are not followed, and of
 * the answer no more is read than is kept.
 */
export async function send(
  url: string,
  request: { headers: Record<string, string>; body: string },
): Promise<Answer> {
  const began = Date.now();
  const signal = AbortSignal.timeout(DEADLINE_MS);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: request.headers,
      body: request.body,
      redirect: "manual",
      signal,
    });
    const body = await readSome(response);
    const wait = Number(response.headers.get("retry-after") ?? Number.NaN);
    return {
      status: response.status,
      body,
      durationMs: Date.now() - began,
      error: null,
      retryAfterSeconds: wait >= 0 ? wait : null,
    };
  } catch {
    const error = signal.aborted ? "timeout" : "connection_failed";
    const durationMs = Date.now() - began;
    return { status: 0, body: error, durationMs, error, retryAfterSeconds: null };
  }
}

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
