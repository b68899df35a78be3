import { neon, neonConfig } from "@neondatabase/serverless";
import { drizzle } from "drizzle-orm/neon-http";

export type DatabaseSettings = {
  /** `postgresql://…`, with its password. */
  url: string;
  /** `http://host:port/path` of a local Neon endpoint; undefined in production. */
  endpoint: string | undefined;
};

/** A Neon compute that sleeps takes some seconds to wake; beyond this it is down. */
const ANSWER_WITHIN_MS = 10_000;

/**
 * A drizzle database over Neon's HTTP endpoint: one request for each query or batch, no connection
 * kept. The driver's configuration is global to the isolate, and so is the endpoint.
 */
export function connect(settings: DatabaseSettings) {
  if (settings.endpoint) neonConfig.fetchEndpoint = settings.endpoint;
  neonConfig.fetchFunction = fetchInTime;
  return drizzle(neon(settings.url));
}

export type Database = ReturnType<typeof connect>;

/**
 * `AbortSignal.timeout` would hold an object awake for its whole time after each answer. Of a
 * response the driver uses just this; another `Response` around it would cost as much as the fetch.
 */
async function fetchInTime(url: string, init: RequestInit) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), ANSWER_WITHIN_MS);
  try {
    const response = await fetch(url, { ...init, signal: controller.signal });
    const { ok, status } = response;
    const text = await response.text();
    return { ok, status, text: async () => text, json: async () => JSON.parse(text) as unknown };
  } finally {
    clearTimeout(timer);
  }
}
