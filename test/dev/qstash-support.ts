import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Client } from "@upstash/qstash";
import { qstashStandIn } from "../../dev/qstash/qstash.ts";

export const TOKEN = "test-token";
export const CURRENT_KEY = "sig_current";
export const NEXT_KEY = "sig_next";

export type Attempt = {
  url: string;
  messageId: string;
  scheduleId?: string;
  retried: number;
  status: number;
  error?: string;
  body: string;
};

/** The stand-in behind a server that takes off `/qstash`, as the router of the world does. */
export async function serveQStash(
  options: { database?: string; signingKey?: string; started?: boolean } = {},
) {
  const attempts: Attempt[] = [];
  const qstash = qstashStandIn({
    database: options.database ?? ":memory:",
    token: TOKEN,
    currentSigningKey: options.signingKey ?? CURRENT_KEY,
    nextSigningKey: NEXT_KEY,
    record: (_kind, entry) => attempts.push(entry as Attempt),
  });
  const server = createServer((request, response) => {
    void qstash.handle(request, response, (request.url ?? "").replace(/^\/qstash/, ""));
  });
  const baseUrl = `${await listen(server)}/qstash`;
  if (options.started !== false) qstash.start();
  return {
    qstash,
    attempts,
    baseUrl,
    client: qstashClient(baseUrl),
    async [Symbol.asyncDispose]() {
      await close(server);
      await qstash.close();
    },
  };
}

export function qstashClient(baseUrl: string): Client {
  return new Client({
    baseUrl,
    token: TOKEN,
    enableTelemetry: false,
    devMode: false,
    retry: false,
  });
}

export type Received = {
  path: string;
  method: string;
  headers: IncomingMessage["headers"];
  body: string;
  response: ServerResponse;
};

type Reply = { status?: number; headers?: Record<string, string>; body?: string } | "hold";

/** A destination: it keeps what it gets and answers 200 unless `reply` says otherwise. */
export async function serveReceiver(reply: (received: Received) => Reply = () => ({})) {
  const received: Received[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { url: path = "", method = "", headers } = request;
    const entry = { path, method, headers, body: Buffer.concat(chunks).toString(), response };
    const answer = reply(entry);
    received.push(entry);
    if (answer !== "hold") {
      response.writeHead(answer.status ?? 200, answer.headers).end(answer.body ?? "");
    }
    for (const waiter of waiting) if (received.length >= waiter.count) waiter.resolve();
  });
  const url = await listen(server);
  return {
    url,
    received,
    /** Resolves once `count` requests have come in. */
    async arrived(count: number): Promise<void> {
      if (received.length >= count) return;
      await new Promise<void>((resolve) => waiting.push({ count, resolve }));
    },
    [Symbol.asyncDispose]: () => close(server),
  };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/**
 * A cron expression (UTC) for once a day, about `minutes` from now: far enough that it does not
 * fire by itself while a test runs.
 */
export function dailyIn(minutes: number): string {
  const at = new Date(Date.now() + minutes * 60_000);
  return `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`;
}
