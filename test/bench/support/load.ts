import { Agent, get } from "node:http";
import { parentPort, workerData } from "node:worker_threads";

/** Runs in a thread of its own, so that the stand-ins in the main thread are not in its way. */
export type Lane = { port: number; requests: { path: string; headers: Record<string, string> }[] };

/** Ends at whichever comes first. */
export type Round = { lane: number; concurrency: number; seconds: number; count: number };

export type Outcome = {
  ok: number;
  /** By the service's own rate limits, if the keys were too few. */
  refused: number;
  failed: number;
  seconds: number;
  /** Of each accepted request, in ms. */
  latencies: number[];
};

const ANSWER_WITHIN_MS = 10_000;

const lanes = (workerData as Lane[]).map((lane) => ({ ...lane, next: 0 }));
const agent = new Agent({ keepAlive: true, scheduling: "fifo" });

async function run(round: Round): Promise<Outcome> {
  const lane = lanes[round.lane];
  if (!lane) throw new Error(`There is no lane ${round.lane}`);
  const outcome: Outcome = { ok: 0, refused: 0, failed: 0, seconds: 0, latencies: [] };
  const began = performance.now();
  let left = round.count;
  const client = async () => {
    while (left-- > 0 && performance.now() - began < round.seconds * 1_000) {
      const request = lane.requests[lane.next++ % lane.requests.length];
      if (!request) return;
      const sent = performance.now();
      const status = await statusOf({ port: lane.port, ...request });
      if (status === 200) {
        outcome.ok++;
        outcome.latencies.push(performance.now() - sent);
      } else if (status === 429) outcome.refused++;
      else outcome.failed++;
    }
  };
  await Promise.all(Array.from({ length: round.concurrency }, client));
  outcome.seconds = (performance.now() - began) / 1_000;
  return outcome;
}

/** 0 when there was no answer. */
function statusOf(options: {
  port: number;
  path: string;
  headers: Record<string, string>;
}): Promise<number> {
  return new Promise((resolve) => {
    const request = get(
      { ...options, host: "127.0.0.1", agent, timeout: ANSWER_WITHIN_MS },
      (response) => {
        response.resume();
        response.once("end", () => resolve(response.statusCode ?? 0));
        response.once("error", () => resolve(0));
      },
    );
    request.once("timeout", () => request.destroy());
    request.once("error", () => resolve(0));
  });
}

parentPort?.on("message", (round: Round) => {
  void run(round).then((outcome) => parentPort?.postMessage(outcome));
});
