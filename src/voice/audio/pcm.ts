/**
 * Mono 16-bit PCM as it travels (bytes, little-endian) and as it is worked on (`Int16Array`). Every
 * machine that runs this is little-endian, so bytes are copied, never swapped; they are copied
 * because an `Int16Array` cannot start at an odd offset of its buffer.
 */

/** A last odd byte is half a sample and is dropped. */
export function pcmFromBytes(bytes: Uint8Array | ArrayBuffer): Int16Array<ArrayBuffer> {
  const view = bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes;
  const pcm = new Int16Array(view.length >> 1);
  new Uint8Array(pcm.buffer).set(view.subarray(0, pcm.length * 2));
  return pcm;
}

export function bytesFromPcm(pcm: Int16Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new Int16Array(pcm).buffer);
}

/** Reads PCM from a byte stream that may be cut in the middle of a sample. */
export function createPcmReader(): { push(bytes: Uint8Array): Int16Array<ArrayBuffer> } {
  let held = new Uint8Array(0);
  return {
    push(bytes) {
      const all = new Uint8Array(held.length + bytes.length);
      all.set(held);
      all.set(bytes, held.length);
      held = all.slice(all.length & ~1);
      return pcmFromBytes(all);
    },
  };
}

export function concatPcm(pieces: readonly Int16Array[]): Int16Array<ArrayBuffer> {
  const whole = new Int16Array(pieces.reduce((samples, piece) => samples + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** Not rounded: sums over many pieces must not drift. */
export function durationMs(samples: number, sampleRate: number): number {
  return (samples * 1000) / sampleRate;
}

export function samplesIn(ms: number, sampleRate: number): number {
  return Math.round((ms * sampleRate) / 1000);
}
