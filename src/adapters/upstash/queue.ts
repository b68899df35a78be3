import { Client, Receiver } from "@upstash/qstash";
import { fromBase64 } from "../../encoding.ts";
import { PortError } from "../../ports/failure.ts";
import type { Queue, QueueReceiver } from "../../ports/queue.ts";

const ANSWER_WITHIN_MS = 5_000;
/** What the name of a flow-control key may not hold; the port of a host, for one. */
const NOT_IN_NAMES = /[^\w.-]/g;
/** Clocks differ; beyond this a token is old. */
const CLOCK_TOLERANCE_SECONDS = 5;

export function upstashQueue(settings: { url: string; token: string; publicUrl: string }): Queue {
  const client = new Client({
    baseUrl: settings.url,
    token: settings.token,
    enableTelemetry: false,
    devMode: false,
    retry: { retries: 1, backoff: () => 200 },
  });
  return {
    async publish(messages) {
      const published = client.batchJSON(
        messages.map(({ task, body, delaySeconds, lane }) => ({
          url: `${settings.publicUrl}/internal/q/${task}`,
          body,
          delay: Math.ceil(delaySeconds),
          retries: 3,
          timeout: 60,
          // A lost answer makes the client publish again; a new generation is a new message.
          deduplicationId: `${body.id}-${body.gen}`,
          flowControl: { key: lane.name.replace(NOT_IN_NAMES, "_"), parallelism: lane.width },
        })),
      );
      const answers = await withinTime(published);
      // The service answers 200 for the batch and says of each message whether it was taken.
      if (answers.flat().some((answer) => !("messageId" in answer))) throw new PortError("refused");
    },
  };
}

export function upstashReceiver(settings: { current: string; next: string }): QueueReceiver {
  const receiver = new Receiver({
    currentSigningKey: settings.current,
    nextSigningKey: settings.next,
    devMode: false,
  });
  return {
    async verify({ url, signature, body }) {
      if (!isWhatTheQueueSends(signature)) return false;
      try {
        return await receiver.verify({
          url,
          signature,
          body,
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
        });
      } catch {
        return false;
      }
    },
  };
}

/** The SDK takes a token of another algorithm, and one that never expires. */
function isWhatTheQueueSends(token: string): boolean {
  try {
    const [header, claims] = token
      .split(".")
      .slice(0, 2)
      .map((part) => {
        return JSON.parse(new TextDecoder().decode(fromBase64(part))) as Record<string, unknown>;
      });
    return header?.["alg"] === "HS256" && typeof claims?.["exp"] === "number";
  } catch {
    return false;
  }
}

async function withinTime<T>(work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new PortError("timeout")), ANSWER_WITHIN_MS);
  try {
    return await Promise.race([work, promise]);
  } catch (error) {
    // The SDK's errors quote what was sent.
    throw error instanceof PortError ? error : new PortError("unavailable");
  } finally {
    clearTimeout(timer);
  }
}
