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

/** `AbortSignal.timeout` would hold an object awake for its whole time after each answer. */
async function fetchInTime(url: string, init: RequestInit): Promise<Response> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), ANSWER_WITHIN_MS);
  try {
    const { status, body } = await fetch(url, { ...init, signal: controller.signal });
    return new Response(await new Response(body).arrayBuffer(), { status });
  } finally {
    clearTimeout(timer);
  }
}
