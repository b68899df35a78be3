const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

export type IdPrefix =
  | "org"
  | "key"
  | "agt"
  | "aud"
  | "evt"
  | "whd"
  | "wha"
  | "wep"
  | "obx"
  | "req";

/** `<prefix>_` and 26 characters: 48 bits of time, then 80 random bits. Sorts by time. */
export function newId(prefix: IdPrefix, now: number): string {
  return `${prefix}_${timeCharacters(now)}${randomCharacters(CROCKFORD, 16)}`;
}

/** A call's id also opens its socket, so it is a capability: 120 random bits. */
export function newCallId(now: number): string {
  return `call_${timeCharacters(now)}${randomCharacters(CROCKFORD, 24)}`;
}

export function randomBase62(length: number): string {
  return randomCharacters(BASE62, length);
}

function timeCharacters(now: number): string {
  let rest = now;
  let text = "";
  for (let i = 0; i < 10; i++) {
    text = CROCKFORD.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** Bytes beyond the last whole multiple of the alphabet are thrown away: each character is equally likely. */
function randomCharacters(alphabet: string, length: number): string {
  const limit = 256 - (256 % alphabet.length);
  let text = "";
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length * 2))) {
      if (byte < limit && text.length < length) text += alphabet.charAt(byte % alphabet.length);
    }
  }
  return text;
}
