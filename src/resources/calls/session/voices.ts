import type { Catalogue } from "../../../ports/catalogue.ts";
import { PortError } from "../../../ports/failure.ts";
import { speakable } from "../../../voice/speakable.ts";
import type { SessionAgent } from "../session-types.ts";
import type { Synthesis } from "./speaking.ts";

/** The agent's voice, or one of another provider that comes nearest to it. */
export function synthesisOf(
  catalogue: Catalogue,
  agent: SessionAgent,
  isFallback: boolean,
): Synthesis {
  const alias = isFallback ? fallbackOf(catalogue, agent) : aliasOf(agent);
  const found = alias && catalogue.speaker(alias);
  return (text, sampleRate, signal) => {
    const said = speakable(text, agent.language);
    if (said === "") return silence();
    if (!found) return failing();
    const { speaker, voice, model } = found;
    return speaker.speak({
      text: said,
      voice,
      model,
      language: agent.language,
      sampleRate,
      signal,
    });
  };
}

type Alias = Parameters<Catalogue["speaker"]>[0];

function aliasOf({ voiceProvider, voiceModel, voiceId }: SessionAgent): Alias {
  return { provider: voiceProvider, model: voiceModel, voiceId };
}

function fallbackOf({ voiceProviders }: Catalogue, agent: SessionAgent): Alias | null {
  const own = voiceProviders.find(({ provider }) => provider === agent.voiceProvider);
  const gender = own?.voices.find(({ voice_id }) => voice_id === agent.voiceId)?.gender;
  const other = voiceProviders.find(({ provider }) => provider !== agent.voiceProvider);
  const voice = other?.voices.find((each) => each.gender === gender) ?? other?.voices[0];
  const model = other?.models[0];
  return voice && model ? { provider: other.provider, model, voiceId: voice.voice_id } : null;
}

async function* silence(): AsyncGenerator<Int16Array> {}

/** A voice that is gone from the catalogue fails as a vendor would. */
function failing(): AsyncIterable<Int16Array> {
  return {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new PortError("refused")) }),
  };
}
