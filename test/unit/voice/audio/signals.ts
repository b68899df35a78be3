export function sine(hz: number, sampleRate: number, seconds: number, peak = 16000): Int16Array {
  const samples = Math.round(sampleRate * seconds);
  return Int16Array.from({ length: samples }, (_, i) =>
    Math.round(peak * Math.sin((2 * Math.PI * hz * i) / sampleRate)),
  );
}

/** White noise from a fixed seed, so that a failing test fails again. */
export function noise(sampleRate: number, seconds: number, peak: number): Int16Array {
  let seed = 12345;
  return Int16Array.from({ length: Math.round(sampleRate * seconds) }, () => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return Math.round(peak * ((seed / 2 ** 32) * 2 - 1));
  });
}

/** `sizes` repeat until the signal is used up. */
export function cut(pcm: Int16Array, sizes: number[]): Int16Array[] {
  const pieces: Int16Array[] = [];
  for (let at = 0, n = 0; at < pcm.length; n++) {
    const size = Math.max(1, sizes[n % sizes.length] ?? 1);
    pieces.push(pcm.subarray(at, at + size));
    at += size;
  }
  return pieces;
}
