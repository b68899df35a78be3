import { concatPcm } from "../../src/voice/audio/pcm.ts";
import { createResampler } from "../../src/voice/audio/resample.ts";
import { variantOf } from "./voices.ts";

/** The part of the engine's own interface that is used; the package has no types. */
type Espeak = {
  /** 0 when the voice exists, as `language+variant`. */
  set_voice(name: string): number;
  /** Calls back with 100 ms of audio at a time; `true` stops it. */
  synthesize(text: string, onAudio: (audio: Int16Array | null) => boolean): void;
};

const engineRate = 22050;
const wantedPeak = 0.6 * 32767;

/** Languages whose engine name is not their tag. */
const engineNames: Record<string, string> = {
  en: "en-us",
  "en-gb": "en",
  "en-au": "en",
  zh: "cmn",
  no: "nb",
  fil: "en-us",
};

let loading: Promise<Espeak> | undefined;

/** One engine for the process: it takes 16 MB, and its calls never overlap. */
function engine(): Promise<Espeak> {
  loading ??= load();
  return loading;
}

async function load(): Promise<Espeak> {
  // Not a literal: the package has no types, and an untyped import would not compile.
  const name: string = "@echogarden/espeak-ng-emscripten";
  const { default: create } = await import(name);
  const module = await create();
  return new module.eSpeakNGWorker();
}

/**
 * Real speech, mono 16-bit PCM. `voice` is any vendor's id of a voice; an unknown `language` (BCP-47)
 * is read as American English. The same request always gives the same samples.
 */
export async function synthesize(
  text: string,
  voice: string,
  sampleRate: number,
  language = "en-us",
): Promise<Int16Array> {
  const spoken = speak(await engine(), text, voice, language);
  const resampler = createResampler(engineRate, sampleRate);
  const resampled = resampler.push(spoken);
  return levelled(concatPcm([resampled, resampler.flush()]));
}

/** The engine leaves a little to chance; a stand-in shall not. */
const remembered = new Map<string, Int16Array>();
const mostRemembered = 100;

function speak(espeak: Espeak, text: string, voice: string, language: string): Int16Array {
  const key = JSON.stringify([text, voice, language]);
  const known = remembered.get(key);
  if (known) return known;
  choose(espeak, language, variantOf(voice));
  const pieces: Int16Array[] = [];
  espeak.synthesize(text, (audio) => {
    if (audio && audio.length > 0) pieces.push(audio);
    return false;
  });
  const spoken = concatPcm(pieces);
  const [oldest] = remembered.keys();
  if (oldest !== undefined && remembered.size >= mostRemembered) remembered.delete(oldest);
  remembered.set(key, spoken);
  return spoken;
}

function choose(espeak: Espeak, language: string, variant: string): void {
  const tag = language.toLowerCase();
  const primary = tag.split("-")[0] ?? tag;
  const candidates = [engineNames[tag], tag, engineNames[primary], primary, "en-us"];
  candidates.find((name) => name && espeak.set_voice(`${name}${variant}`) === 0);
}

/** The engine's voices differ in loudness, and some of them clip when resampled. */
function levelled(pcm: Int16Array): Int16Array {
  const peak = pcm.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  return peak === 0 ? pcm : pcm.map((sample) => Math.round((sample * wantedPeak) / peak));
}
