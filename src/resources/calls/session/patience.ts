import type { TranscriberEvent } from "../../../ports/transcriber.ts";
import { silenceAfter } from "../../../voice/endpointing.ts";

/** A sound after a pause may be the next word; its text takes about so long to come. */
const NEXT_WORD_MS = 1_000;
/** What was said before the recogniser was lost is a turn, when nothing more comes for so long. */
const LOST_MS = 3_000;

/**
 * For a recogniser whose end of turn is nothing but a silence of `silenceMs`: waits as long as the
 * words deserve, and makes one utterance of those that follow each other quickly. Meanwhile the turn
 * has probably ended (`eager_end_of_turn`), until more words take that back (`turn_resumed`).
 */
export function withPatience(options: {
  language: string;
  silenceMs: number;
  onEvent(event: TranscriberEvent): void;
}): { take(event: TranscriberEvent): void; stop(): void } {
  const { language, silenceMs, onEvent } = options;
  let said = "";
  let timer: ReturnType<typeof setTimeout> | null = null;
  let endsAt = 0;

  const stop = () => {
    if (timer) clearTimeout(timer);
    timer = null;
  };
  const end = () => {
    stop();
    const text = said;
    said = "";
    onEvent({ type: "end_of_turn", text });
  };
  const endAfter = (ms: number) => {
    stop();
    endsAt = Date.now() + ms;
    timer = setTimeout(end, ms);
  };
  const joined = (text: string) => (said === "" ? text : `${said} ${text}`);

  return {
    stop,
    take(event) {
      switch (event.type) {
        case "end_of_turn": {
          said = joined(event.text);
          const ms = silenceAfter(said, language) - silenceMs;
          if (ms <= 0) return end();
          onEvent({ type: "eager_end_of_turn", text: said });
          return endAfter(ms);
        }
        case "partial":
          if (timer) {
            stop();
            onEvent({ type: "turn_resumed" });
          }
          return onEvent({ type: "partial", text: joined(event.text) });
        case "speech_started":
          if (timer && endsAt - Date.now() < NEXT_WORD_MS) endAfter(NEXT_WORD_MS);
          return onEvent(event);
        case "lost":
          if (said !== "" && !timer) endAfter(LOST_MS);
          return onEvent(event);
        default:
          return onEvent(event);
      }
    },
  };
}
