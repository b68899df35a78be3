import type { Speaker } from "../../ports/speaker.ts";
import { type SpeakerTimeouts, speakPcm } from "../speech.ts";
import { run, type WorkersAi } from "./binding.ts";

export type WorkersAiSpeakerOptions = SpeakerTimeouts & { ai: WorkersAi };

const vendorRates = [8000, 16000, 24000, 32000, 48000];
const richestRate = 48000;

/** Deepgram's Aura voices on Workers AI. Each model speaks one language. */
export function workersAiSpeaker(options: WorkersAiSpeakerOptions): Speaker {
  return {
    speak({ text, voice, model, sampleRate, signal }) {
      const vendorRate = vendorRates.includes(sampleRate) ? sampleRate : richestRate;
      // Without these it would be MP3.
      const format = { encoding: "linear16", container: "none", sample_rate: vendorRate };
      const inputs = { text, speaker: voice, ...format };
      return speakPcm(
        { sampleRate, signal },
        { ...options, vendorRate, ask: (within) => run(options.ai, model, inputs, within) },
      );
    },
  };
}
