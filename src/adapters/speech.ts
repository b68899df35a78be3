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

type Spoken = SpeakerTimeouts & {
  send: Fetch;
  url: string;
  headers: Record<string, string>;
  body: Record<string, unknown>;
  /** Hz of the PCM the vendor will send. */
  vendorRate: number;
};

/** Asks a vendor that answers with raw 16-bit PCM, and gives it at the rate that was wanted. */
export async function* speakOverHttp(
  { sampleRate, signal }: Pick<SpeechRequest, "sampleRate" | "signal">,
  { send, url, headers, body, vendorRate, firstAudioTimeoutMs, idleTimeoutMs = 5000 }: Spoken,
): AsyncGenerator<Int16Array> {
  const resampler = createResampler(vendorRate, sampleRate);
  const pcm = createPcmReader();
  const request = watch(signal);
  try {
    request.within(firstAudioTimeoutMs);
    const stream = await open(send, url, {
      method: "POST",
      signal: request.signal,
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
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
