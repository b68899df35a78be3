import { type Failure, invalid } from "../../errors.ts";

const INTERNAL_NAME = /(^|\.)(localhost|local|internal|localdomain|home\.arpa)$/;

const hostOf = (url: string) => URL.parse(url)?.hostname.replace(/\.$/, "");

/**
 * Whether a customer's URL may be called at all, judged by its form alone: nothing is resolved.
 * Returns the URL as the platform will dial it. The platform's strictly public fetch is the wall
 * behind this guard, against names that lead to private addresses.
 */
export function checkDestination(
  path: string,
  text: string,
  rules: { devOrigins: readonly string[]; ownOrigin: string },
): string | Failure {
  const url = URL.parse(text);
  if (!url) return invalid(path, "must be an absolute URL");
  if (rules.devOrigins.includes(url.origin)) return url.href;
  if (url.protocol !== "https:") return invalid(path, "must be an HTTPS URL");
  if (url.username || url.password) return invalid(path, "must not carry a user or password");
  const host = url.hostname.replace(/\.$/, "");
  // The parser has already turned 0x7f.1, 2130706433 and their like into dotted form.
  if (host.startsWith("[") || /^[\d.]+$/.test(host)) {
    return invalid(path, "must name a host, not an address");
  }
  if (!host.includes(".") || INTERNAL_NAME.test(host)) {
    return invalid(path, "must name a public host");
  }
  if (host === hostOf(rules.ownOrigin)) return invalid(path, "must not be this service itself");
  return url.href;
}
