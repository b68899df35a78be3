/** G.711 μ-law: 8 bits for each sample, logarithmic. */
const bias = 0x84;
const loudest = 32635;

/** One byte for each sample. */
export function encodeMulaw(pcm: Int16Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(pcm.length);
  for (let i = 0; i < pcm.length; i++) bytes[i] = encodeSample(pcm[i] as number);
  return bytes;
}

/** One sample for each byte. */
export function decodeMulaw(bytes: Uint8Array): Int16Array<ArrayBuffer> {
  const pcm = new Int16Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) pcm[i] = decoded[bytes[i] as number] as number;
  return pcm;
}

const decoded = Int16Array.from({ length: 256 }, (_, byte) => decodeByte(byte));

function decodeByte(byte: number): number {
  const code = ~byte & 0xff;
  const magnitude = ((((code & 0x0f) << 3) + bias) << ((code & 0x70) >> 4)) - bias;
  return code & 0x80 ? -magnitude : magnitude;
}

function encodeSample(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(Math.abs(sample), loudest) + bias;
  const exponent = 24 - Math.clz32(magnitude);
  const mantissa = (magnitude >> (exponent + 3)) & 0x0f;
  return ~(sign | (exponent << 4) | mantissa) & 0xff;
}
