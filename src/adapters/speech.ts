import type { SpeechRequest } from "../ports/speaker.ts";
import { createPcmReader } from "../voice/audio/pcm.ts";
import { createResampler } from "../voice/audio/resample.ts";
import { type Fetch, open, piecesOf, watch } from "./request.ts";

export type SpeakerTimeouts = {
  /** From the request to the first sound. */
  firstAudioTimeoutMs: number;
  /** Between two pieces of sound; by default 5 s. */
  idleTimeoutMs?: number | undefined;
};

type Asked = SpeakerTimeouts & {
  /** Sends the request and gives the body of a good answer; throws `PortError` for a bad one. */
  ask(signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /** Hz of the PCM the vendor will send. */
  vendorRate: number;
};

type Spoken = Omit<Asked, "ask"> & {
  send: Fetch;
  url: string;
  headers: Record<string, string>;
  body: Record<string, unknown>;
};

/** Asks a vendor over HTTP that answers with raw 16-bit PCM. */
export function speakOverHttp(
  wanted: Pick<SpeechRequest, "sampleRate" | "signal">,
  { send, url, headers, body, ...asked }: Spoken,
): AsyncGenerator<Int16Array> {
  return speakPcm(wanted, {
    ...asked,
    ask: (signal) =>
      open(send, url, {
        method: "POST",
        signal,
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
  });
}

/** Asks a vendor that answers with raw 16-bit PCM, and gives it at the rate that was wanted. */
export async function* speakPcm(
  { sampleRate, signal }: Pick<SpeechRequest, "sampleRate" | "signal">,
  { ask, vendorRate, firstAudioTimeoutMs, idleTimeoutMs = 5000 }: Asked,
): AsyncGenerator<Int16Array> {
  const resampler = createResampler(vendorRate, sampleRate);
  const pcm = createPcmReader();
  const request = watch(signal);
  try {
    request.within(firstAudioTimeoutMs);
    const stream = await ask(request.signal);
    for await (const bytes of piecesOf(stream)) {
      // A slow listener is not the vendor's delay.
      request.rest();
      request.check();
      const piece = resampler.push(pcm.push(bytes));
      if (piece.length > 0) yield piece;
      request.within(idleTimeoutMs);
    }
    const last = resampler.flush();
    if (last.length > 0) yield last;
  } catch (error) {
    throw request.failure(error);
  } finally {
    request.end();
  }
}
