import type { IncomingMessage, ServerResponse } from "node:http";
import * as z from "zod";
import { encodeMulaw } from "../src/voice/audio/mulaw.ts";
import { bytesFromPcm } from "../src/voice/audio/pcm.ts";
import { isSampleRate } from "../src/voice/audio/resample.ts";
import { wavHeader } from "../src/voice/audio/wav.ts";
import { createScript, pause, readBody, type Script, stepShape } from "./script.ts";
import { synthesize } from "./speech/engine.ts";
import { elevenLabsVoices } from "./speech/voices.ts";
import type { Recorder, StandIn } from "./stand-in.ts";
import { sendJson } from "./world/http.ts";

export { synthesize } from "./speech/engine.ts";

/** What the next synthesis shall do. */
export type ScriptedSpeech = z.infer<typeof scriptedShape>;

const scriptedShape = z.strictObject({
  ...stepShape,
  /** Cuts the connection after so many bytes. */
  breakAfterBytes: z.int().nonnegative().optional(),
  chunkDelayMs: z.number().nonnegative().optional(),
});

const elevenLabsShape = z.object({
  text: z.string().min(1),
  model_id: z.string().default("eleven_multilingual_v2"),
  language_code: z.string().optional(),
});

const openAiShape = z.object({
  model: z.string(),
  input: z.string().min(1).max(4096),
  voice: z.string(),
  response_format: z.enum(["pcm", "wav"]),
});
const openAiRate = 24000;

/** Not a whole number of samples, as vendors do it: a reader must carry the odd byte. */
const chunkBytes = 3201;

export type SpeechStandIn = StandIn & { script: Script<ScriptedSpeech> };

/**
 * Text to speech under the vendors' own protocols, `/elevenlabs/v1/…` and `/openai/v1/…`, with real
 * audio. `POST /script { answers: [...] }` decides the next ones. Records `speech` for each request
 * and `speech_left` when the asking side hangs up before the end.
 */
export function speechStandIn({ record }: { record: Recorder }): SpeechStandIn {
  const script = createScript("answers", scriptedShape);
  return {
    name: "speech",
    script,
    async handle(request, response, path) {
      const { pathname, searchParams } = new URL(path, "http://speech");
      if (pathname === "/script") return script.handle(request, response);
      const parts = { record, script };
      if (pathname.startsWith("/elevenlabs/v1/")) {
        if (!request.headers["xi-api-key"])
          return refuseElevenLabs(response, 401, "needs_authorization");
        if (pathname === "/elevenlabs/v1/voices") return sendJson(response, 200, elevenLabsList);
        const voice = /^\/elevenlabs\/v1\/text-to-speech\/([^/]+)\/stream$/.exec(pathname)?.[1];
        if (!voice || request.method !== "POST")
          return refuseElevenLabs(response, 404, "not_found");
        const format = searchParams.get("output_format") ?? "mp3_44100_128";
        return speakElevenLabs(request, response, {
          ...parts,
          voice: decodeURIComponent(voice),
          format,
        });
      }
      if (!/^Bearer \S+$/.test(request.headers.authorization ?? "")) {
        return refuseOpenAi(response, 401, "invalid_api_key");
      }
      if (pathname !== "/openai/v1/audio/speech" || request.method !== "POST") {
        return refuseOpenAi(response, 404, "not_found");
      }
      return speakOpenAi(request, response, parts);
    },
  };
}

const elevenLabsList = {
  voices: elevenLabsVoices.map(({ id, name, gender }) => ({
    voice_id: id,
    name,
    category: "premade",
    labels: { gender, accent: "american" },
  })),
};

type Parts = { record: Recorder; script: Script<ScriptedSpeech> };

async function speakElevenLabs(
  request: IncomingMessage,
  response: ServerResponse,
  { voice, format, ...parts }: Parts & { voice: string; format: string },
): Promise<void> {
  const parsed = elevenLabsShape.safeParse(await readBody(request));
  if (!parsed.success) return refuseElevenLabs(response, 422, "invalid_body");
  const [, codec, rateText] = /^(pcm|ulaw)_(\d+)$/.exec(format) ?? [];
  const rate = Number(rateText);
  const served = isSampleRate(rate) && (codec === "pcm" || rate === 8000);
  if (!served) return refuseElevenLabs(response, 400, "unsupported_output_format");
  const { text, model_id: model, language_code: language } = parsed.data;
  parts.record("speech", { vendor: "elevenlabs", text, voice, model, format, language });
  const step = await nextStep(response, parts, text);
  if (!step) return;
  if (step.status !== undefined) return refuseElevenLabs(response, step.status, "scripted");
  const pcm = await synthesize(text, voice, rate, language);
  const bytes = codec === "ulaw" ? encodeMulaw(pcm) : bytesFromPcm(pcm);
  return sendSound(response, bytes, {
    ...step,
    type: codec === "ulaw" ? "audio/basic" : "audio/pcm",
  });
}

async function speakOpenAi(
  request: IncomingMessage,
  response: ServerResponse,
  parts: Parts,
): Promise<void> {
  const parsed = openAiShape.safeParse(await readBody(request));
  if (!parsed.success) return refuseOpenAi(response, 400, "invalid_request");
  const { input: text, voice, model, response_format: format } = parsed.data;
  parts.record("speech", { vendor: "openai", text, voice, model, format });
  const step = await nextStep(response, parts, text);
  if (!step) return;
  if (step.status !== undefined) return refuseOpenAi(response, step.status, "scripted");
  const bytes = bytesFromPcm(await synthesize(text, voice, openAiRate));
  if (format === "pcm") return sendSound(response, bytes, { ...step, type: "audio/pcm" });
  const wav = Buffer.concat([wavHeader(bytes.length, openAiRate), bytes]);
  return sendSound(response, wav, { ...step, type: "audio/wav" });
}

/** What the script wants, after its delay; nothing when the asking side left meanwhile. */
export async function nextStep(
  response: ServerResponse,
  { record, script }: Parts,
  text: string,
): Promise<ScriptedSpeech | undefined> {
  response.once("close", () => {
    if (!response.writableFinished) record("speech_left", { text });
  });
  const step = script.next(text) ?? {};
  return (await pause(response, step.delayMs)) ? step : undefined;
}

export async function sendSound(
  response: ServerResponse,
  bytes: Uint8Array,
  { type, breakAfterBytes, chunkDelayMs }: ScriptedSpeech & { type: string },
): Promise<void> {
  response.writeHead(200, { "content-type": type });
  const whole = bytes.subarray(0, breakAfterBytes);
  for (let at = 0; at < whole.length; at += chunkBytes) {
    if (!(await pause(response, chunkDelayMs))) return;
    response.write(whole.subarray(at, at + chunkBytes));
  }
  if (breakAfterBytes === undefined) response.end();
  else response.write("", () => response.destroy());
}

function refuseElevenLabs(response: ServerResponse, status: number, code: string): void {
  sendJson(response, status, { detail: { status: code, message: "The request was refused." } });
}

function refuseOpenAi(response: ServerResponse, status: number, code: string): void {
  const error = { message: "The request was refused.", type: "invalid_request_error", code };
  sendJson(response, status, { error });
}
