import { inject } from "vitest";
import type { WorkersAi } from "../../../src/adapters/workers-ai/binding.ts";

/** The `AI` binding as the runtime has it, on the way to the local world instead of the vendor. */
export const ai: WorkersAi = {
  run(model, inputs, { signal, ...options }) {
    const url = new URL(`${inject("worldUrl")}/workers-ai/run?version=3`);
    const body = JSON.stringify({ inputs, options });
    const headers = { "cf-consn-sdk-version": "2.0.0", "cf-consn-model-id": model };
    if ("websocket" in options) {
      url.searchParams.set("body", body);
      return fetch(url, { headers: { ...headers, upgrade: "websocket" }, signal });
    }
    const json = { ...headers, "content-type": "application/json" };
    return fetch(url, { method: "POST", body, headers: json, signal });
  },
};
