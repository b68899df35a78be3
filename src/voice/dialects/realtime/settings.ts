import type { AudioFormat } from "../../audio/format.ts";
import { isSampleRate } from "../../audio/resample.ts";
import { isObject, type JsonObject, objectIn } from "../reading.ts";
import type { Modality, RealtimeState } from "./draft.ts";

type Settings = { modality: Modality; input: AudioFormat; output: AudioFormat };

/** The settings of a `session.update` on top of those that stand; null for a format unknown here. */
export function readSettings(session: JsonObject, state: RealtimeState): Settings | null {
  const audio = objectIn(session, "audio");
  const input = readFormat(objectIn(audio, "input")["format"], state.input);
  const output = readFormat(objectIn(audio, "output")["format"], state.output);
  if (!input || !output) return null;
  const modalities = session["output_modalities"];
  const modality = Array.isArray(modalities) ? modalityOf(modalities) : state.modality;
  return { modality, input, output };
}

/** Whether an update says what kind of session is wanted; one for tracing alone does not. */
export function saysHowToBegin(session: JsonObject): boolean {
  return "audio" in session || "output_modalities" in session;
}

function modalityOf(modalities: unknown[]): Modality {
  return modalities.includes("audio") ? "audio" : "text";
}

function readFormat(value: unknown, standing: AudioFormat): AudioFormat | null {
  if (value === undefined || value === null) return standing;
  const { type, rate = 24_000 } = isObject(value) ? value : { type: value };
  if (type === "audio/pcmu" || type === "g711_ulaw")
    return { encoding: "mulaw", sampleRate: 8_000 };
  if (type !== "audio/pcm" && type !== "pcm16") return null;
  return typeof rate === "number" && isSampleRate(rate)
    ? { encoding: "pcm16", sampleRate: rate }
    : null;
}

/** The session as its client sees it. What the agent is told to be is not the client's to read. */
export function sessionView({ callId, modality, input, output }: RealtimeState): JsonObject {
  return {
    type: "realtime",
    object: "realtime.session",
    id: `sess_${callId}`,
    model: "agent",
    output_modalities: [modality],
    instructions: "",
    tools: [],
    tool_choice: "auto",
    max_output_tokens: "inf",
    tracing: null,
    audio: {
      input: {
        format: formatView(input),
        noise_reduction: null,
        transcription: { model: "agent" },
        turn_detection: { type: "server_vad", create_response: true, interrupt_response: true },
      },
      output: { format: formatView(output), voice: "agent", speed: 1 },
    },
  };
}

export function formatView({ encoding, sampleRate }: AudioFormat): JsonObject {
  return encoding === "mulaw" ? { type: "audio/pcmu" } : { type: "audio/pcm", rate: sampleRate };
}
