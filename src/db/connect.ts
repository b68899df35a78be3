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
  neonConfig.fetchFunction = (url: string, init: RequestInit) =>
    fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  return drizzle(neon(settings.url));
}

export type Database = ReturnType<typeof connect>;
