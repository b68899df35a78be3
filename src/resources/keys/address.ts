import ipaddr from "ipaddr.js";

/**
 * The canonical form of an address or a CIDR range, or null when it is neither. IPv4 mapped into
 * IPv6 becomes IPv4, host bits of a range are cleared: two spellings of one thing become one.
 */
export function canonicalRange(text: string): string | null {
  const [address = "", bits, ...more] = text.trim().split("/");
  if (more.length > 0) return null;
  const parsed = parseAddress(address);
  if (!parsed) return null;
  if (bits === undefined) return parsed.address.toString();
  const width = parsed.address.kind() === "ipv4" ? 32 : 128;
  if (!/^\d{1,3}$/.test(bits)) return null;
  const length = Number(bits) - (parsed.mapped ? 96 : 0);
  if (length < 0 || length > width) return null;
  return `${networkOf(parsed.address, length)}/${length}`;
}

export function addressMatches(address: string, ranges: readonly string[]): boolean {
  const parsed = parseAddress(address)?.address;
  if (!parsed) return false;
  return ranges.some((range) => {
    const [network = "", bits] = range.split("/");
    const base = ipaddr.parse(network);
    if (base.kind() !== parsed.kind()) return false;
    const width = parsed.kind() === "ipv4" ? 32 : 128;
    return parsed.match(base, bits === undefined ? width : Number(bits));
  });
}

function parseAddress(text: string) {
  // The library also reads "1", "0x7f.1" and zone ids; an allow-list should not have to be guessed at.
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(text) && !/^[0-9a-fA-F:.]*:[0-9a-fA-F:.]*$/.test(text)) {
    return null;
  }
  // "010" is eight to some and ten to others, also in the dotted end of an IPv6 address.
  if (/(^|[.:])0\d+\.|\.0\d/.test(text)) return null;
  const plain = text.includes(":") ? text.replace(DOTTED_END, inHex) : text;
  if (!ipaddr.isValid(plain)) return null;
  const address = ipaddr.parse(plain);
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()) {
    return { address: address.toIPv4Address(), mapped: true };
  }
  return { address, mapped: false };
}

const DOTTED_END = /(?<=:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/;

/** The library takes any IPv6 address with a dotted end for a mapped one, so it never sees one. */
function inHex(dotted: string, ...bytes: string[]): string {
  const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number);
  if (Math.max(a, b, c, d) > 255) return dotted;
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

function networkOf(address: ipaddr.IPv4 | ipaddr.IPv6, length: number): string {
  return address.kind() === "ipv4"
    ? ipaddr.IPv4.networkAddressFromCIDR(`${address.toString()}/${length}`).toString()
    : ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${length}`).toString();
}
