import type { Speaker } from "../../ports/speaker.ts";
import type { Fetch } from "../request.ts";
import { type SpeakerTimeouts, speakOverHttp } from "../speech.ts";

export type OpenAiSpeakerOptions = SpeakerTimeouts & {
  /** `https://api.openai.com/v1` */
  baseUrl: string;
  apiKey: string;
  fetch?: Fetch | undefined;
};

/** What `pcm` means to OpenAI. */
const vendorRate = 24000;

/** OpenAI text to speech. It finds the language in the text. */
export function openAiSpeaker(options: OpenAiSpeakerOptions): Speaker {
  const { baseUrl, apiKey, fetch: send = (url, init) => fetch(url, init) } = options;
  return {
    speak: ({ text, voice, model, sampleRate, signal }) =>
      speakOverHttp(
        { sampleRate, signal },
        {
          ...options,
          send,
          url: `${baseUrl}/audio/speech`,
          headers: { authorization: `Bearer ${apiKey}` },
          body: { model, input: text, voice, response_format: "pcm" },
          vendorRate,
        },
      ),
  };
}
