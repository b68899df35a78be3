import { type FailureCode, PortError } from "../ports/failure.ts";

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** One request to a vendor: the caller's abort, our deadlines and the end of it in one place. */
export type Watch = {
  signal: AbortSignal;
  /** Gives up with `timeout` unless told otherwise within `ms`. */
  within(ms: number): void;
  /** Nothing is expected from the vendor at the moment. */
  rest(): void;
  /** Throws once it was given up: what had arrived by then is not wanted any more. */
  check(): void;
  /** What a failure means here: who aborted decides, else the vendor is unavailable. */
  failure(error: unknown): PortError;
  /** Frees the timer and closes the request upstream, wherever it stands. */
  end(): void;
};

export function watch(callersSignal: AbortSignal): Watch {
  const controller = new AbortController();
  let cancel: () => void = () => undefined;
  let reason: FailureCode = "unavailable";
  const giveUp = (code: FailureCode) => {
    if (controller.signal.aborted) return;
    reason = code;
    controller.abort();
  };
  const onAbort = () => giveUp("aborted");
  callersSignal.addEventListener("abort", onAbort, { once: true });
  if (callersSignal.aborted) onAbort();
  return {
    signal: controller.signal,
    within(ms) {
      cancel();
      const timer = setTimeout(() => giveUp("timeout"), ms);
      cancel = () => clearTimeout(timer);
    },
    rest: () => cancel(),
    check() {
      if (controller.signal.aborted) throw new PortError(reason);
    },
    // The cause stays out: it may hold the vendor's text.
    failure: (error) => (error instanceof PortError ? error : new PortError(reason)),
    end() {
      cancel();
      callersSignal.removeEventListener("abort", onAbort);
      controller.abort();
    },
  };
}

export async function open(
  send: Fetch,
  url: string,
  init: RequestInit,
): Promise<ReadableStream<Uint8Array>> {
  return bodyOf(await send(url, init));
}

/** The body of a 2xx answer; `refused` for what will fail again, `unavailable` for what may pass. */
export async function bodyOf(response: Response): Promise<ReadableStream<Uint8Array>> {
  if (response.ok && response.body) return response.body;
  await response.body?.cancel();
  throw new PortError(codeOf(response.status));
}

export function codeOf(status: number): FailureCode {
  const passing = status >= 500 || status === 408 || status === 425 || status === 429;
  return status >= 400 && !passing ? "refused" : "unavailable";
}

/** The pieces of a body; it is let go when the reading side stops. */
export async function* piecesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
