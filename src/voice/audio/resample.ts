/** The rates a call may use. A closed list: an odd ratio would cost megabytes of coefficients. */
export const sampleRates = [8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000] as const;

export type Resampler = {
  /** Mono PCM of any length in, what can be computed so far out (it lags by under 2 ms). */
  push(pcm: Int16Array): Int16Array;
  /** The last samples still held back; the resampler is then ready for a new, unrelated signal. */
  flush(): Int16Array;
};

/** Taps at the lower of the two rates: 0.1 dB at 3 kHz for a telephone's 8 kHz, aliases below -70 dB. */
const tapsAtLowerRate = 24;
/** Share of the lower Nyquist frequency that passes. */
const passShare = 0.92;
const kaiserBeta = 7;

/**
 * A streaming resampler from `from` to `to` Hz; sample 0 of the output lies on sample 0 of the
 * input, and after `flush` the output is `ceil(samples * to / from)` long however it was cut.
 * Equal rates hand through the very array that came in.
 * Throws `RangeError` for a rate outside `sampleRates`.
 */
export function createResampler(from: number, to: number): Resampler {
  if (!isSampleRate(from) || !isSampleRate(to)) throw new RangeError("unsupported sample rate");
  if (from === to) return { push: (pcm) => pcm, flush: () => new Int16Array(0) };

  const divisor = greatestCommonDivisor(from, to);
  const filter = polyphase(to / divisor, from / divisor);
  let state = silentStart(filter);
  let received = 0;
  let produced = 0;

  const push = (pcm: Int16Array): Int16Array => {
    const output = convolve(filter, state, pcm);
    state = output.state;
    received += pcm.length;
    produced += output.pcm.length;
    return output.pcm;
  };
  const flush = (): Int16Array => {
    const missing = Math.ceil((received * filter.up) / filter.down) - produced;
    const tail = push(new Int16Array(filter.taps)).subarray(0, missing);
    state = silentStart(filter);
    received = 0;
    produced = 0;
    return tail;
  };
  return { push, flush };
}

export function isSampleRate(rate: number): boolean {
  return sampleRates.some((known) => known === rate);
}

type Filter = { up: number; down: number; taps: number; phases: Float32Array[] };

/** `input` starts with the samples still needed; `at` is the newest one under the filter. */
type State = { input: Float32Array; at: number; phase: number };

/** Silence before the first sample, and the filter's centre on it, so that nothing is delayed. */
function silentStart({ taps }: Filter): State {
  return { input: new Float32Array(taps - 1), at: taps - 1 + taps / 2, phase: 0 };
}

function convolve(filter: Filter, state: State, pcm: Int16Array) {
  const { up, down, taps } = filter;
  const input = new Float32Array(state.input.length + pcm.length);
  input.set(state.input);
  input.set(pcm, state.input.length);

  let { at, phase } = state;
  const room = Math.max(0, Math.ceil(((input.length - at) * up) / down) + 1);
  const output = new Int16Array(room);
  let count = 0;
  while (at < input.length) {
    const coefficients = filter.phases[phase] as Float32Array;
    let sum = 0;
    for (let k = 0; k < taps; k++) sum += (coefficients[k] as number) * (input[at - k] as number);
    output[count++] = Math.max(-32768, Math.min(32767, Math.round(sum)));
    phase += down;
    at += Math.floor(phase / up);
    phase %= up;
  }
  const used = Math.min(at - taps + 1, input.length);
  return {
    pcm: output.subarray(0, count),
    state: { input: input.slice(used), at: at - used, phase },
  };
}

const filters = new Map<string, Filter>();

function polyphase(up: number, down: number): Filter {
  const key = `${up}/${down}`;
  const known = filters.get(key);
  if (known) return known;

  // Even, so that the centre of the filter falls on a whole input sample.
  const taps = 2 * Math.ceil((tapsAtLowerRate * Math.max(1, down / up)) / 2);
  const centre = (taps * up) / 2;
  const cutoff = (0.5 * passShare) / Math.max(up, down);
  const phases = Array.from({ length: up }, (_, phase) => {
    const coefficients = new Float32Array(taps);
    for (let k = 0; k < taps; k++) {
      coefficients[k] = windowedSinc(phase + k * up - centre, cutoff, centre);
    }
    // The same gain in every phase: else a steady level would come out with a ripple.
    const gain = coefficients.reduce((sum, coefficient) => sum + coefficient, 0);
    return coefficients.map((coefficient) => coefficient / gain);
  });
  const filter = { up, down, taps, phases };
  filters.set(key, filter);
  return filter;
}

function windowedSinc(t: number, cutoff: number, halfWidth: number): number {
  const window = bessel0(kaiserBeta * Math.sqrt(1 - (t / halfWidth) ** 2)) / bessel0(kaiserBeta);
  return window * (t === 0 ? 2 * cutoff : Math.sin(2 * Math.PI * cutoff * t) / (Math.PI * t));
}

/** The modified Bessel function of order zero, by its power series. */
function bessel0(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; k < 25; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
