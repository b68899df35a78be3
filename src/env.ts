import * as z from "zod";

const seconds = (fallback: number) => z.coerce.number().int().min(1).max(86_400).default(fallback);

const variables = z.object({
  /** Neon: `postgresql://user:password@host/database`. */
  DATABASE_URL: z.string().min(1),
  /** A local Neon endpoint's URL; never set in production. */
  NEON_ENDPOINT: z.string().optional(),
  QSTASH_URL: z.url().default("https://qstash.upstash.io"),
  QSTASH_TOKEN: z.string().min(1),
  QSTASH_CURRENT_SIGNING_KEY: z.string().min(1),
  QSTASH_NEXT_SIGNING_KEY: z.string().min(1),
  UPSTASH_REDIS_REST_URL: z.url(),
  UPSTASH_REDIS_REST_TOKEN: z.string().min(1),
  /** The service's HTTPS origin, without a slash at the end; the queue calls it. */
  PUBLIC_URL: z.url(),
  /** The origin of `gateway.url`, `wss://…`. Without it, only a loopback Host may shape that URL. */
  PUBLIC_WS_URL: z.string().optional(),
  /** Signs the check characters of every API key; 32 random bytes in base64. */
  KEY_CHECK_SECRET: z.string().min(32),
  /** `{"primary":"k1","keys":{"k1":"<32 bytes, base64>"}}`: seals webhook secrets and tokens. */
  VAULT_KEYS: z.string().min(1),
  /** Origins exempt from the guard on customers' URLs, comma-separated; empty in production. */
  WEBHOOK_DEV_ORIGINS: z.string().default(""),
  /** DNS-over-HTTPS in JSON: names that lead to private addresses are not delivered to. */
  WEBHOOK_DNS_URL: z.union([z.url(), z.literal("")]).default(""),
  LLM_BASE_URL: z.url().default("https://api.openai.com/v1"),
  LLM_API_KEY: z.string().min(1),
  /** Who thinks: anybody who speaks OpenAI's form, or Workers AI through the `AI` binding. */
  LLM: z.enum(["openai", "workers-ai"]).default("openai"),
  /** The vendor's name of the model; by default that of `service_fast_v1`. */
  LLM_MODEL: z.string().optional(),
  /** Who listens; the last through the `AI` binding. */
  TRANSCRIBER: z.enum(["nova", "flux", "workers-ai"]).default("nova"),
  DEEPGRAM_BASE_URL: z.url().default("https://api.deepgram.com"),
  DEEPGRAM_API_KEY: z.string().min(1),
  ELEVENLABS_BASE_URL: z.url().default("https://api.elevenlabs.io"),
  ELEVENLABS_API_KEY: z.string().min(1),
  SPEECH_BASE_URL: z.url().default("https://api.openai.com/v1"),
  SPEECH_API_KEY: z.string().min(1),
  CALL_JOIN_SECONDS: seconds(600),
  CALL_REJOIN_SECONDS: seconds(30),
  CALL_IDLE_SECONDS: seconds(600),
  CALL_MAX_SECONDS: seconds(3_600),
  /** Whether the model is asked when a caller has probably finished; may cost one request a turn. */
  CALL_SPECULATION: z.stringbool().default(true),
  /** How many web calls of one organization may be live at once. */
  LIVE_WEB_CALLS: z.coerce.number().int().min(1).max(100_000).default(50),
  /** How often the sweeper runs, as a cron expression in UTC. */
  SWEEP_CRON: z.string().default("*/5 * * * *"),
});

export type Settings = z.infer<typeof variables>;

/** The names of all variables, for whoever passes them on. */
export const variableNames = Object.keys(variables.shape);

const parsed = new WeakMap<object, Settings>();

/** The Worker's variables and secrets, checked once for each isolate. A missing one names itself. */
export function settingsOf(env: object): Settings {
  const known = parsed.get(env);
  if (known) return known;
  if ("QSTASH_DEV" in env) {
    throw new Error("QSTASH_DEV must not be set: it makes the queue accept publicly known keys");
  }
  const result = variables.safeParse(env);
  if (!result.success) {
    const names = result.error.issues.map((issue) => `${issue.path.join(".")} (${issue.message})`);
    throw new Error(
      `Configuration: ${names.join(", ")}. Set each with \`wrangler secret put NAME\`, or locally in .dev.vars; .dev.vars.example explains them.`,
    );
  }
  parsed.set(env, result.data);
  return result.data;
}
