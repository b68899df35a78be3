import type { ChatMessage, Model } from "../../../ports/model.ts";
import type { TurnEvent } from "../../../voice/turn.ts";

/** One request to the model for one reply. */
export type Thinking = { cancel(): void };

export function openThinking(options: {
  turnId: number;
  model: Model;
  name: string;
  messages: readonly ChatMessage[];
  onEvent(event: TurnEvent): void;
}): Thinking {
  const { turnId } = options;
  const abort = new AbortController();

  async function run() {
    try {
      const pieces = options.model.stream({
        model: options.name,
        messages: options.messages,
        signal: abort.signal,
      });
      for await (const text of pieces) {
        if (abort.signal.aborted) return;
        options.onEvent({ type: "model_delta", turnId, text });
      }
      if (!abort.signal.aborted) options.onEvent({ type: "model_done", turnId });
    } catch {
      if (!abort.signal.aborted) options.onEvent({ type: "model_failed", turnId });
    }
  }

  void run();
  return { cancel: () => abort.abort() };
}
