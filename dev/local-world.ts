import path from "node:path";
import { migrate } from "./migrate.ts";
import { modelStandIn } from "./model.ts";
import { neonStandIn } from "./neon.ts";
import { startPostgres } from "./postgres.ts";
import { qstashStandIn } from "./qstash/qstash.ts";
import { redisStandIn } from "./redis.ts";
import type { Secrets } from "./secrets.ts";
import { speechStandIn } from "./speech.ts";
import { transcriberStandIn } from "./transcriber.ts";
import { workersAiStandIn } from "./workers-ai.ts";
import { createRecorder } from "./world/recorder.ts";
import { startWorld } from "./world.ts";

const KEPT_RECORDS = 20_000;

export type LocalWorld = {
  url: string;
  port: number;
  databaseUrl: string;
  /** Lets the queue begin to deliver, once there is somebody to deliver to. */
  startQueue(): void;
  close(): Promise<void>;
};

/**
 * Everybody outside, on loopback: a real Postgres behind Neon's protocols, and one stand-in for each
 * vendor. `durable` keeps all of it over restarts and kills; else it begins empty and is faster.
 */
export async function openLocalWorld(options: {
  stateDir: string;
  durable: boolean;
  secrets: Secrets;
  port?: number;
}): Promise<LocalWorld> {
  const { stateDir, durable, secrets } = options;
  const postgres = await startPostgres({ stateDir, durable });
  const databaseUrl = await migrate(postgres.adminUrl, "service");
  const recorder = createRecorder(KEPT_RECORDS);
  const { record } = recorder;
  let advanced = 0;
  const queue = qstashStandIn({
    database: durable ? path.join(stateDir, "queue.sqlite") : ":memory:",
    token: secrets.qstashToken,
    currentSigningKey: secrets.qstashCurrentSigningKey,
    nextSigningKey: secrets.qstashNextSigningKey,
    record,
  });
  const [model, transcriber, speech] = [
    modelStandIn({ record }),
    transcriberStandIn({ record }),
    speechStandIn({ record }),
  ];
  const world = await startWorld({
    ...(options.port === undefined ? {} : { port: options.port }),
    recorder,
    standIns: [
      neonStandIn({ pgPort: postgres.port }),
      queue,
      redisStandIn({
        token: secrets.redisToken,
        record,
        now: () => Date.now() + advanced,
      }),
      model,
      transcriber,
      speech,
      workersAiStandIn({ record, model, transcriber, speech }),
    ],
    advanceClock: (seconds) => {
      advanced += seconds * 1_000;
      return queue.advance(seconds);
    },
  });
  return {
    url: world.url,
    port: world.port,
    databaseUrl,
    startQueue: () => queue.start(),
    async close() {
      await world.close();
      await postgres.stop();
    },
  };
}

/** The Worker's variables that make this world its own. */
export function variablesOf(
  world: Pick<LocalWorld, "url" | "databaseUrl">,
  secrets: Secrets,
  publicUrl: string,
): Record<string, string> {
  return {
    DATABASE_URL: world.databaseUrl,
    NEON_ENDPOINT: `${world.url}/neon/sql`,
    QSTASH_URL: `${world.url}/qstash`,
    QSTASH_TOKEN: secrets.qstashToken,
    QSTASH_CURRENT_SIGNING_KEY: secrets.qstashCurrentSigningKey,
    QSTASH_NEXT_SIGNING_KEY: secrets.qstashNextSigningKey,
    UPSTASH_REDIS_REST_URL: `${world.url}/redis`,
    UPSTASH_REDIS_REST_TOKEN: secrets.redisToken,
    PUBLIC_URL: publicUrl,
    KEY_CHECK_SECRET: secrets.keyCheckSecret,
    VAULT_KEYS: secrets.vaultKeys,
    WEBHOOK_DEV_ORIGINS: world.url,
    LLM_BASE_URL: `${world.url}/model/v1`,
    LLM_API_KEY: "local",
    DEEPGRAM_BASE_URL: `${world.url}/transcriber`,
    DEEPGRAM_API_KEY: "local",
    ELEVENLABS_BASE_URL: `${world.url}/speech/elevenlabs`,
    ELEVENLABS_API_KEY: "local",
    SPEECH_BASE_URL: `${world.url}/speech/openai/v1`,
    SPEECH_API_KEY: "local",
    SWEEP_CRON: "* * * * *",
  };
}
