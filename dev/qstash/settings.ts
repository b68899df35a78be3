import { parseDuration } from "./duration.ts";
import { evaluateDelay } from "./expression.ts";
import { type HeaderLists, headerValue, renamed } from "./headers.ts";
import type { FlowControl, Settings } from "./message.ts";
import { Refused } from "./refused.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const DEFAULT_RETRIES = 3;
const DEFAULT_TIMEOUT_MS = 15 * 60_000;
const LONGEST_TIMEOUT_MS = 12 * 3_600_000;
const UNSUPPORTED = /^upstash-(queue-name|redact-fields|workflow-.*)$/;

/**
 * Reads the `Upstash-*` headers of a publish, a batch item or a schedule.
 * Throws `Refused` (400) on a value QStash would not take, or that this stand-in does not know.
 */
export function readSettings(headers: HeaderLists, destination: string): Settings {
  const unsupported = Object.keys(headers).find((name) => UNSUPPORTED.test(name));
  if (unsupported) throw new Refused(400, `${unsupported} is not supported by the stand-in`);

  const forwarded = renamed(headers, "Upstash-Forward-", "");
  const contentType = headers["content-type"];
  const notBefore = whole(headers, "Upstash-Not-Before");
  const timeoutMs = duration(headers, "Upstash-Timeout") ?? DEFAULT_TIMEOUT_MS;
  if (timeoutMs <= 0 || timeoutMs > LONGEST_TIMEOUT_MS) {
    throw new Refused(400, "invalid Upstash-Timeout: it must be above 0 and at most 12h");
  }
  return {
    url: destinationUrl(destination),
    method: method(headers),
    header: contentType ? { "content-type": contentType, ...forwarded } : forwarded,
    delayMs: duration(headers, "Upstash-Delay") ?? 0,
    notBefore: notBefore === undefined ? undefined : notBefore * 1000,
    retries: whole(headers, "Upstash-Retries") ?? DEFAULT_RETRIES,
    retryDelay: retryDelay(headers),
    timeoutMs,
    labels: commaList(headerValue(headers, "Upstash-Label")),
    flow: flowControl(headers),
    callback: callback(headers, "Upstash-Callback"),
    failureCallback: callback(headers, "Upstash-Failure-Callback"),
  };
}

function destinationUrl(destination: string): string {
  if (!/^https?:\/\//i.test(destination)) {
    throw new Refused(
      400,
      "invalid destination: it must start with http:// or https:// (URL groups are not supported by the stand-in)",
    );
  }
  if (!URL.canParse(destination)) throw new Refused(400, "invalid destination url");
  return destination;
}

function method(headers: HeaderLists): string {
  const name = (headerValue(headers, "Upstash-Method") ?? "POST").toUpperCase();
  if (!METHODS.includes(name)) throw new Refused(400, "invalid Upstash-Method");
  return name;
}

function callback(headers: HeaderLists, name: string): Settings | undefined {
  const url = headerValue(headers, name);
  if (url === undefined) return undefined;
  const settings = readSettings(
    { "content-type": ["application/json"], ...renamed(headers, `${name}-`, "Upstash-") },
    url,
  );
  if (settings.delayMs > 0 || settings.notBefore !== undefined) {
    throw new Refused(400, `invalid ${name}: a callback cannot be delayed`);
  }
  return settings;
}

function retryDelay(headers: HeaderLists): string | undefined {
  const source = headerValue(headers, "Upstash-Retry-Delay");
  if (source !== undefined && evaluateDelay(source, 0) === undefined) {
    throw new Refused(400, "invalid Upstash-Retry-Delay expression");
  }
  return source;
}

function flowControl(headers: HeaderLists): FlowControl | undefined {
  const key = headerValue(headers, "Upstash-Flow-Control-Key");
  if (!key) return undefined;
  const flow: FlowControl = { key, periodMs: 1000 };
  for (const part of commaList(headerValue(headers, "Upstash-Flow-Control-Value"))) {
    const [name, text = ""] = part.split("=").map((piece) => piece.trim());
    const value = name === "period" ? parseDuration(text) : Number(text);
    if (value === undefined || !(value > 0))
      throw new Refused(400, `invalid flow control: ${part}`);
    if (name === "parallelism") flow.parallelism = value;
    else if (name === "rate") flow.rate = value;
    else if (name === "period") flow.periodMs = value;
    else throw new Refused(400, `invalid flow control: ${part}`);
  }
  if (flow.parallelism === undefined && flow.rate === undefined) {
    throw new Refused(400, "invalid flow control: give parallelism or rate");
  }
  return flow;
}

function whole(headers: HeaderLists, name: string): number | undefined {
  const text = headerValue(headers, name);
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw new Refused(400, `invalid ${name}: it must be a whole number`);
  return Number(text);
}

function duration(headers: HeaderLists, name: string): number | undefined {
  const text = headerValue(headers, name);
  if (text === undefined) return undefined;
  const value = parseDuration(text);
  if (value === undefined) throw new Refused(400, `invalid ${name}: it must be a duration`);
  return value;
}

function commaList(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
