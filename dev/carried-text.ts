/**
 * Text carried inside sound, so that a call on one machine has both ends without a recogniser: the
 * caller's tool puts the words in front of the speech as a modem would, and the local transcriber
 * reads them back. It is a test instrument, not speech recognition.
 *
 * Frequency-shift keying, 600 baud, mark 1200 Hz, space 2200 Hz (what a telephone line carries well);
 * bytes as a serial line sends them (start bit, 8 data bits from the lowest, stop bit). A frame:
 * leader of marks · 7E 55 · length, 2 bytes · following speech in ms, 2 bytes · UTF-8 · CRC-16.
 */
const baud = 600;
const markHz = 1200;
const spaceHz = 2200;
const peak = 6000;
const leaderBits = 48;
const trailerBits = 12;
const firstSync = 0x7e;
const secondSync = 0x55;
const headerBytes = 4;
const crcBytes = 2;
/** About a minute of sound; a false start must not swallow more than that. */
const maxTextBytes = 4000;

export type CarriedEvent =
  /** The words that are complete so far; unchecked until the frame has ended. */
  | { type: "partial"; text: string }
  /** A whole frame; `speechMs` of speech that says the same follow it. */
  | { type: "text"; text: string; speechMs: number }
  /** A frame began and cannot be read. */
  | { type: "damaged" };

export type CarriedTextReader = { push(pcm: Int16Array): CarriedEvent[] };

/**
 * The sound of `text`, 60 bytes a second. `speechMs` tells the reader how much speech will follow,
 * so that a pause inside it does not look like the end. Throws `RangeError` beyond 4000 bytes.
 */
export function carry(text: string, sampleRate: number, speechMs = 0): Int16Array {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > maxTextBytes) throw new RangeError("text too long to carry");
  const spoken = Math.min(0xffff, Math.round(speechMs));
  const body = [bytes.length >> 8, bytes.length & 0xff, spoken >> 8, spoken & 0xff, ...bytes];
  const check = crc16(body);
  const frame = [firstSync, secondSync, ...body, check >> 8, check & 0xff];
  const bits = [
    ...new Array<number>(leaderBits).fill(1),
    ...frame.flatMap((byte) => [0, ...[0, 1, 2, 3, 4, 5, 6, 7].map((bit) => (byte >> bit) & 1), 1]),
    ...new Array<number>(trailerBits).fill(1),
  ];
  return modulate(bits, sampleRate);
}

/** What a caller sends to say something: the carried text, the speech, 400 ms of silence. */
export function spokenWithText(text: string, sampleRate: number, speech: Int16Array): Int16Array {
  const carried = carry(text, sampleRate, (speech.length * 1000) / sampleRate);
  const sound = new Int16Array(carried.length + speech.length + Math.round(sampleRate * 0.4));
  sound.set(carried);
  sound.set(speech, carried.length);
  return sound;
}

/** Reads a stream in pieces of any length. */
export function createReader(sampleRate: number): CarriedTextReader {
  // Both tones fit into 8 kHz; more would be work for nothing.
  const together = Math.max(1, Math.floor(sampleRate / 8000));
  const rate = sampleRate / together;
  const tone = createToneMeter(rate);
  const bytes = createByteReader(rate / baud);
  const frame = createFrameReader();
  let sum = 0;
  let summed = 0;
  return {
    push(pcm) {
      const events: CarriedEvent[] = [];
      for (const sample of pcm) {
        sum += sample;
        summed += 1;
        if (summed < together) continue;
        const found = bytes.push(tone(sum));
        const event = found === undefined ? undefined : frame(found);
        if (event) events.push(event);
        sum = 0;
        summed = 0;
      }
      return events;
    },
  };
}

function modulate(bits: readonly number[], sampleRate: number): Int16Array {
  const samplesPerBit = sampleRate / baud;
  const sound = new Int16Array(Math.ceil(bits.length * samplesPerBit));
  let phase = 0;
  for (let i = 0; i < sound.length; i++) {
    const bit = bits[Math.min(bits.length - 1, Math.floor(i / samplesPerBit))];
    phase += (2 * Math.PI * (bit === 1 ? markHz : spaceHz)) / sampleRate;
    sound[i] = Math.round(peak * Math.sin(phase));
  }
  return sound;
}

/** Positive while the mark is the stronger of the two tones over the last millisecond. */
function createToneMeter(sampleRate: number): (sample: number) => number {
  // One millisecond is where two tones 1000 Hz apart stop leaking into each other.
  const window = Math.round(sampleRate / (spaceHz - markHz));
  const waves = [markHz, spaceHz].flatMap((hz) =>
    [Math.cos, Math.sin].map((wave) =>
      Float64Array.from({ length: window }, (_, i) => wave((2 * Math.PI * hz * i) / sampleRate)),
    ),
  );
  // Every sample is kept twice, a window apart: the last window then never wraps around.
  const recent = new Float64Array(2 * window);
  let at = 0;
  const strength = (wave: Float64Array | undefined): number => {
    let sum = 0;
    for (let k = 0; k < window; k++) sum += (wave?.[k] ?? 0) * (recent[at + k] ?? 0);
    return sum * sum;
  };
  return (sample) => {
    recent[at] = sample;
    recent[at + window] = sample;
    at = (at + 1) % window;
    return strength(waves[0]) + strength(waves[1]) - strength(waves[2]) - strength(waves[3]);
  };
}

/** `"lost"`: what looked like a byte was none. */
type Found = number | "lost" | undefined;

/** A serial line's receiver: waits for a start bit's edge, then reads each bit in its middle. */
function createByteReader(samplesPerBit: number): { push(tone: number): Found } {
  let previous = 0;
  /** Samples since the edge; negative while waiting for one. */
  let elapsed = -1;
  let bit = 0;
  let byte = 0;
  const idle = (found: Found): Found => {
    elapsed = -1;
    return found;
  };
  return {
    push(tone) {
      const fell = previous > 0 && tone <= 0;
      previous = tone;
      if (elapsed < 0) {
        if (fell) [elapsed, bit, byte] = [0, 0, 0];
        return undefined;
      }
      elapsed += 1;
      if (elapsed < Math.round((bit + 0.5) * samplesPerBit)) return undefined;
      const isMark = tone > 0;
      if (bit === 0 && isMark) return idle("lost");
      if (bit === 9) return idle(isMark ? byte : "lost");
      if (bit > 0 && isMark) byte |= 1 << (bit - 1);
      bit += 1;
      return undefined;
    },
  };
}

/** Takes bytes, and `"lost"` where the line broke, and says what they amount to. */
function createFrameReader(): (found: number | "lost") => CarriedEvent | undefined {
  let synced = 0;
  let body: number[] = [];
  const restart = (event?: CarriedEvent): CarriedEvent | undefined => {
    synced = 0;
    body = [];
    return event;
  };
  const hunt = (found: number | "lost"): undefined => {
    if (found === firstSync) synced = 1;
    else synced = synced === 1 && found === secondSync ? 2 : 0;
  };
  return (found) => {
    if (synced < 2) return hunt(found);
    if (found === "lost") return restart({ type: "damaged" });
    body.push(found);
    if (body.length < headerBytes) return undefined;
    const textBytes = wordAt(body, 0);
    if (textBytes > maxTextBytes) return restart({ type: "damaged" });
    const textEnd = headerBytes + textBytes;
    if (body.length === textEnd + crcBytes) return restart(finish(body, textEnd));
    const wordEnded = found === 0x20 && body.length <= textEnd;
    return wordEnded ? { type: "partial", text: decode(body.slice(headerBytes, -1)) } : undefined;
  };
}

function finish(body: readonly number[], textEnd: number): CarriedEvent {
  if (crc16(body.slice(0, textEnd)) !== wordAt(body, textEnd)) return { type: "damaged" };
  const text = decode(body.slice(headerBytes, textEnd));
  return { type: "text", text, speechMs: wordAt(body, 2) };
}

function decode(bytes: readonly number[]): string {
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

function wordAt(bytes: readonly number[], at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

/** CRC-16/CCITT-FALSE. */
function crc16(bytes: readonly number[]): number {
  let crc = 0xffff;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    crc &= 0xffff;
  }
  return crc;
}
