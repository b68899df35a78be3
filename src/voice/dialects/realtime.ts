import type { Dialect, Understood } from "./dialect.ts";
import { parseObject } from "./reading.ts";
import {
  type Draft,
  draftOf,
  emitError,
  initialState,
  type RealtimeState,
} from "./realtime/draft.ts";
import { readEvent } from "./realtime/read.ts";
import { addAudio } from "./realtime/response.ts";
import { writeMessage } from "./realtime/write.ts";

/** The protocol of OpenAI Realtime over a WebSocket: events as JSON, audio in them as base64. */
export const realtime: Dialect<RealtimeState> = {
  name: "realtime",
  subprotocol: "realtime",
  audio: initialState.output,
  speaksUnasked: true,
  // Its clients always say first what they want.
  startWithinMs: 1_000,
  initial: initialState,
  renew: ({ ids, isBegun, modality, input, output }) => ({
    ...initialState,
    ids,
    isBegun,
    modality,
    input,
    output,
  }),
  read: (frame, state) =>
    within(state, (draft) => {
      const event = typeof frame === "string" ? parseObject(frame) : null;
      if (event) readEvent(draft, event);
      else emitError(draft, { code: "bad_json", message: "A frame must be a JSON object" });
    }),
  write: (message, state) => within(state, (draft) => writeMessage(draft, message)),
  speak: (piece, state) => within(state, (draft) => addAudio(draft, piece)),
};

function within(
  state: RealtimeState,
  translate: (draft: Draft) => void,
): Understood<RealtimeState> {
  const draft = draftOf(state);
  translate(draft);
  return draft;
}
