import * as z from "zod";
import { isPublicAddress } from "./public-address.ts";

const Reply = z.object({
  Answer: z.array(z.object({ type: z.int(), data: z.string() })).optional(),
});
const RECORDS = { A: 1, AAAA: 28 } as const;

/**
 * Asks a DNS-over-HTTPS server (in its JSON form) for every address of a host. True when there is
 * one and all are public. Throws when the server does not answer as it should.
 */
export async function resolvesToPublic(
  dnsUrl: string,
  host: string,
  signal: AbortSignal,
): Promise<boolean> {
  const found = await Promise.all(
    Object.entries(RECORDS).map(async ([type, number]) => {
      const query = new URLSearchParams({ name: host, type });
      const response = await fetch(`${dnsUrl}?${query}`, {
        headers: { Accept: "application/dns-json" },
        redirect: "manual",
        signal,
      });
      if (response.status !== 200) throw new Error(`DNS answered ${response.status}`);
      const { Answer = [] } = Reply.parse(await response.json());
      return Answer.filter((record) => record.type === number).map(({ data }) => data);
    }),
  );
  const addresses = found.flat();
  return addresses.length > 0 && addresses.every(isPublicAddress);
}
