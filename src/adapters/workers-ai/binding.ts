import { bodyOf } from "../request.ts";

/** What is used of the platform's `AI` binding: asked like this, it answers with a `Response`. */
export type WorkersAi = {
  run(
    model: string,
    inputs: Record<string, unknown>,
    options: { signal: AbortSignal } & ({ returnRawResponse: true } | { websocket: true }),
  ): Promise<Response>;
};

/** Runs a model and gives the body of its answer; throws `PortError` for a bad one. */
export async function run(
  ai: WorkersAi,
  model: string,
  inputs: Record<string, unknown>,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  return bodyOf(await ai.run(model, inputs, { returnRawResponse: true, signal }));
}
