import type { Speaker } from "../../ports/speaker.ts";
import type { Fetch } from "../request.ts";
import { type SpeakerTimeouts, speakOverHttp } from "../speech.ts";

export type ElevenLabsOptions = SpeakerTimeouts & {
  /** `https://api.elevenlabs.io` */
  baseUrl: string;
  apiKey: string;
  fetch?: Fetch | undefined;
};

/** The vendor has higher rates too, but not in every plan, and speech has nothing up there. */
const vendorRates = [8000, 16000, 22050, 24000];
const richestRate = 24000;

/** ElevenLabs text to speech, one streamed request for each text. */
export function elevenLabsSpeaker(options: ElevenLabsOptions): Speaker {
  const { baseUrl, apiKey, fetch: send = (url, init) => fetch(url, init) } = options;
  return {
    speak({ text, voice, model, language, sampleRate, signal }) {
      const vendorRate = vendorRates.includes(sampleRate) ? sampleRate : richestRate;
      const path = `/v1/text-to-speech/${encodeURIComponent(voice)}/stream`;
      return speakOverHttp(
        { sampleRate, signal },
        {
          ...options,
          send,
          url: `${baseUrl}${path}?output_format=pcm_${vendorRate}`,
          headers: { "xi-api-key": apiKey },
          body: { text, model_id: model, ...languageFor(model, language) },
          vendorRate,
        },
      );
    },
  };
}

/** Models that find the language themselves refuse to be told it. */
function languageFor(model: string, language: string): { language_code?: string } {
  const [code] = language.split("-");
  return model.endsWith("_v2_5") && code ? { language_code: code.toLowerCase() } : {};
}
