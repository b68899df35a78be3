import { decodeMulaw } from "./mulaw.ts";

export type WavEncoding = "pcm8" | "pcm16" | "pcm24" | "mulaw";

export type Wav = {
  encoding: WavEncoding;
  channels: number;
  sampleRate: number;
  durationSeconds: number;
  /** The samples as stored, channels interleaved; a view of the bytes that were parsed. */
  data: Uint8Array;
};

export type WavResult =
  | { ok: true; wav: Wav }
  /** `not_wav`: no RIFF/WAVE with a format and data; `unsupported`: another codec or depth. */
  | { ok: false; code: "not_wav" | "unsupported" };

const encodings: Record<WavEncoding, { format: number; bits: number }> = {
  pcm8: { format: 1, bits: 8 },
  pcm16: { format: 1, bits: 16 },
  pcm24: { format: 1, bits: 24 },
  mulaw: { format: 7, bits: 8 },
};
/** WAVE_FORMAT_EXTENSIBLE keeps the real format in the first two bytes of its GUID. */
const extensible = 0xfffe;

/** The 44 bytes before `dataBytes` bytes of samples. */
export function wavHeader(
  dataBytes: number,
  sampleRate: number,
  { channels = 1, encoding = "pcm16" }: { channels?: number; encoding?: WavEncoding } = {},
): Uint8Array<ArrayBuffer> {
  const { format, bits } = encodings[encoding];
  const blockBytes = (channels * bits) / 8;
  const header = new Uint8Array(44);
  const view = new DataView(header.buffer);
  const tag = (at: number, name: string) => header.set(new TextEncoder().encode(name), at);
  tag(0, "RIFF");
  view.setUint32(4, 36 + dataBytes, true);
  tag(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, format, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, sampleRate * blockBytes, true);
  view.setUint16(32, blockBytes, true);
  view.setUint16(34, bits, true);
  tag(36, "data");
  view.setUint32(40, dataBytes, true);
  return header;
}

/** Reads any input without throwing; a cut-off file keeps the samples that are there. */
export function parseWav(bytes: Uint8Array): WavResult {
  const notWav = { ok: false, code: "not_wav" } as const;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (tagAt(bytes, 0) !== "RIFF" || tagAt(bytes, 8) !== "WAVE") return notWav;

  let format: Format | undefined;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const size = view.getUint32(at + 4, true);
    const start = at + 8;
    if (tagAt(bytes, at) === "fmt " && size >= 16 && start + 16 <= bytes.length) {
      format = readFormat(view, start, size);
    }
    if (tagAt(bytes, at) === "data") {
      return format ? describe(format, bytes.subarray(start, start + size)) : notWav;
    }
    at = start + size + (size & 1);
  }
  return notWav;
}

/** One channel of 16-bit PCM, whatever was stored: channels are averaged, depth is converted. */
export function wavToPcm(wav: Wav): Int16Array<ArrayBuffer> {
  const samples = toSixteenBits(wav);
  if (wav.channels === 1) return samples;
  const mono = new Int16Array(Math.floor(samples.length / wav.channels));
  for (let i = 0; i < mono.length; i++) {
    let sum = 0;
    for (let channel = 0; channel < wav.channels; channel++) {
      sum += samples[i * wav.channels + channel] as number;
    }
    mono[i] = Math.round(sum / wav.channels);
  }
  return mono;
}

type Format = { format: number; channels: number; sampleRate: number; bits: number };

function readFormat(view: DataView, at: number, size: number): Format {
  const format = view.getUint16(at, true);
  const guidFits = size >= 26 && at + 26 <= view.byteLength;
  return {
    format: format === extensible && guidFits ? view.getUint16(at + 24, true) : format,
    channels: view.getUint16(at + 2, true),
    sampleRate: view.getUint32(at + 4, true),
    bits: view.getUint16(at + 14, true),
  };
}

function describe(found: Format, rest: Uint8Array): WavResult {
  const { channels, sampleRate, bits } = found;
  const names: WavEncoding[] = ["pcm8", "pcm16", "pcm24", "mulaw"];
  const encoding = names.find((name) => {
    return encodings[name].format === found.format && encodings[name].bits === bits;
  });
  if (!encoding || channels === 0 || sampleRate === 0) return { ok: false, code: "unsupported" };
  const blockBytes = (channels * bits) / 8;
  const blocks = Math.floor(rest.length / blockBytes);
  const data = rest.subarray(0, blocks * blockBytes);
  return {
    ok: true,
    wav: { encoding, channels, sampleRate, durationSeconds: blocks / sampleRate, data },
  };
}

function toSixteenBits({ encoding, data }: Wav): Int16Array<ArrayBuffer> {
  if (encoding === "mulaw") return decodeMulaw(data);
  // WAV keeps 8-bit samples unsigned, every other depth signed.
  if (encoding === "pcm8") return Int16Array.from(data, (byte) => (byte - 128) << 8);
  const width = encoding === "pcm16" ? 2 : 3;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const pcm = new Int16Array(data.length / width);
  for (let i = 0; i < pcm.length; i++) pcm[i] = view.getInt16(i * width + width - 2, true);
  return pcm;
}

function tagAt(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}
