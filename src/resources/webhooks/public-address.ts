import ipaddr from "ipaddr.js";

/** Not for everybody either, though the library takes them for ordinary. */
const SPECIAL = ["64:ff9b:1::/48", "3fff::/20", "5f00::/16", "100::/64", "192.88.99.0/24"].map(
  (range) => ipaddr.parseCIDR(range),
);

/** Whether an address in canonical text belongs to the public internet; an IPv4 in IPv6 counts as itself. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (address.range() !== "unicast") return false;
  return !SPECIAL.some(
    ([range, bits]) => range.kind() === address.kind() && address.match(range, bits),
  );
}
