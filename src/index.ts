import { catalogueOf } from "./adapters/aliases.ts";
import { byLanguage } from "./adapters/by-language.ts";
import { fluxLanguages, fluxTranscriber } from "./adapters/deepgram/flux.ts";
import { deepgramTranscriber } from "./adapters/deepgram/transcriber.ts";
import { elevenLabsSpeaker } from "./adapters/elevenlabs/speaker.ts";
import { openAiModel } from "./adapters/openai/model.ts";
import { openAiSpeaker } from "./adapters/openai/speaker.ts";
import { upstashQueue, upstashReceiver } from "./adapters/upstash/queue.ts";
import type { WorkersAi } from "./adapters/workers-ai/binding.ts";
import { workersAiModel } from "./adapters/workers-ai/model.ts";
import { workersAiSpeaker } from "./adapters/workers-ai/speaker.ts";
import { workersAiFlux, workersAiNova } from "./adapters/workers-ai/transcriber.ts";
import { createApp } from "./app.ts";
import { connect } from "./db/connect.ts";
import { system } from "./db/system.ts";
import { tenant } from "./db/tenant.ts";
import { type Settings, settingsOf } from "./env.ts";
import { callObject } from "./http/rpc.ts";
import type { Model } from "./ports/model.ts";
import type { Transcriber } from "./ports/transcriber.ts";
import { CallSessionObject, type SessionWiring } from "./resources/calls/session.ts";
import type { Session } from "./resources/calls/session-types.ts";
import { KeyGateObject } from "./resources/keys/gate.ts";
import { gateRecords } from "./resources/keys/gate-records.ts";
import type { Admission, Gate } from "./resources/keys/gate-types.ts";
import { vault } from "./vault.ts";
import type { Wiring } from "./wiring.ts";

const wirings = new WeakMap<object, Wiring & SessionWiring>();

/** Vendors to adapters to context: made once for each isolate, and nowhere else. */
function wiringOf(env: Env): Wiring & SessionWiring {
  const known = wirings.get(env);
  if (known) return known;
  const settings = settingsOf(env);
  const db = connect({ url: settings.DATABASE_URL, endpoint: settings.NEON_ENDPOINT });
  const wiring: Wiring & SessionWiring = {
    settings,
    options: {
      publicUrl: settings.PUBLIC_URL.replace(/\/$/, ""),
      keyCheckSecret: settings.KEY_CHECK_SECRET,
      webhookDevOrigins: settings.WEBHOOK_DEV_ORIGINS.split(",").filter(Boolean),
      webhookDnsUrl: settings.WEBHOOK_DNS_URL || null,
      callJoinSeconds: settings.CALL_JOIN_SECONDS,
      liveWebCalls: settings.LIVE_WEB_CALLS,
    },
    system: system(db),
    tenant: (organizationId) => tenant(db, organizationId),
    gate: (routingTag) => gateOf(env, routingTag),
    session: (callId) => sessionOf(env, callId),
    vault: vault(settings.VAULT_KEYS),
    ...vendors(settings, bindingOf(env)),
  };
  wirings.set(env, wiring);
  return wiring;
}

/** The platform's models, where the deployment binds them: local life has no such thing. */
function bindingOf(env: Env & { AI?: WorkersAi }): WorkersAi | undefined {
  return env.AI;
}

function vendors(settings: Settings, ai: WorkersAi | undefined) {
  return {
    queue: upstashQueue({
      url: settings.QSTASH_URL,
      token: settings.QSTASH_TOKEN,
      publicUrl: settings.PUBLIC_URL.replace(/\/$/, ""),
    }),
    receiver: upstashReceiver({
      current: settings.QSTASH_CURRENT_SIGNING_KEY,
      next: settings.QSTASH_NEXT_SIGNING_KEY,
    }),
    transcriber: transcriberOf(settings, ai),
    catalogue: catalogueOf({
      elevenLabs: elevenLabsSpeaker({
        baseUrl: settings.ELEVENLABS_BASE_URL,
        apiKey: settings.ELEVENLABS_API_KEY,
        ...speakerTimeouts,
      }),
      openAi: openAiSpeaker({
        baseUrl: settings.SPEECH_BASE_URL,
        apiKey: settings.SPEECH_API_KEY,
        ...speakerTimeouts,
      }),
      workersAi: ai && workersAiSpeaker({ ai, ...speakerTimeouts }),
      model: modelOf(settings, ai),
      reasoning: settings.LLM,
      defaultModel: settings.LLM_MODEL,
    }),
  };
}

const speakerTimeouts = { firstAudioTimeoutMs: 5_000 };
const connectTimeoutMs = 5_000;

function transcriberOf(settings: Settings, ai: WorkersAi | undefined): Transcriber {
  if (settings.TRANSCRIBER === "workers-ai") {
    const bound = { ai: requireAiBinding(ai, "TRANSCRIBER"), connectTimeoutMs };
    const flux = workersAiFlux({ ...bound, model: "@cf/deepgram/flux" });
    const nova = workersAiNova({ ...bound, model: "@cf/deepgram/nova-3" });
    return byLanguage(flux, ["en"], nova);
  }
  const deepgram = {
    baseUrl: settings.DEEPGRAM_BASE_URL,
    apiKey: settings.DEEPGRAM_API_KEY,
    connectTimeoutMs,
  };
  const nova = deepgramTranscriber({ ...deepgram, model: "nova-3" });
  if (settings.TRANSCRIBER === "nova") return nova;
  const models = { english: "flux-general-en", multilingual: "flux-general-multi" };
  return byLanguage(fluxTranscriber({ ...deepgram, models }), fluxLanguages, nova);
}

function modelOf(settings: Settings, ai: WorkersAi | undefined): Model {
  const firstTokenTimeoutMs = 8_000;
  if (settings.LLM === "workers-ai") {
    return workersAiModel({ ai: requireAiBinding(ai, "LLM"), firstTokenTimeoutMs });
  }
  return openAiModel({
    baseUrl: settings.LLM_BASE_URL,
    apiKey: settings.LLM_API_KEY,
    firstTokenTimeoutMs,
  });
}

function requireAiBinding(ai: WorkersAi | undefined, variable: string): WorkersAi {
  if (ai) return ai;
  throw new Error(
    `Configuration: ${variable}=workers-ai needs the binding AI in wrangler.toml; docs/runbook.md says how.`,
  );
}

function gateOf(env: Env, routingTag: string): Gate {
  const stub = () => env.KEY_GATE.getByName(routingTag);
  const options = { what: "the key gate", repeatable: true };
  return {
    admit: (knock) => callObject(stub, async (s): Promise<Admission> => s.admit(knock), options),
    beginChange: (id) => callObject(stub, async (s) => s.beginChange(id), options),
    finishChange: (token, key) =>
      callObject(stub, async (s) => s.finishChange(token, key), options),
    refill: () => callObject(stub, async (s) => s.refill(), options),
  };
}

function sessionOf(env: Env, callId: string): Session {
  const stub = () => env.CALL_SESSION.getByName(callId);
  const options = { what: "the call", repeatable: true };
  return {
    prepare: (preparation) => callObject(stub, async (s) => s.prepare(preparation), options),
    connect: (request) =>
      callObject(stub, (s) => s.fetch(request), { ...options, repeatable: false }),
    end: (reason) => callObject(stub, async (s) => s.end(reason), options),
    transcript: () => callObject(stub, async (s) => s.transcript(), options),
    watch: () => callObject(stub, async (s) => s.watch(), options),
  };
}

export class KeyGate extends KeyGateObject<Env> {
  protected override wire(env: Env) {
    return gateRecords(wiringOf(env));
  }
}

export class CallSession extends CallSessionObject<Env> {
  protected override wire(env: Env) {
    return wiringOf(env);
  }
}

export default createApp(wiringOf);
