import type { Wiring } from "../../../wiring.ts";
import { writeEnding } from "./final-write.ts";
import type { SessionStore } from "./store.ts";

const MAX_DELAY_MS = 60_000;

/** Brings the end of the call to Postgres; what fails is due again later. */
export function endingWriter(store: SessionStore, wiring: Pick<Wiring, "tenant" | "queue">) {
  let writing: Promise<void> | null = null;

  async function tryToWrite() {
    const { preparation, ending } = store.state;
    if (!preparation || !ending) return;
    const db = wiring.tenant(preparation.organizationId);
    try {
      await writeEnding(db, wiring.queue, preparation, ending);
      const { agent } = preparation;
      await store.forget({ agentId: agent.id, reason: ending.reason });
    } catch {
      const delay = Math.min(MAX_DELAY_MS, 1_000 * 2 ** ending.tries);
      store.set({ ending: { ...ending, tries: ending.tries + 1 }, writeAt: Date.now() + delay });
    }
  }

  /** One at a time: the alarm and a caller of `end` may both want it. */
  return (): Promise<void> => {
    writing ??= tryToWrite().finally(() => {
      writing = null;
    });
    return writing;
  };
}
