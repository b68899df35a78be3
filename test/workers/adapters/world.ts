import { expect, inject } from "vitest";
import { PortError } from "../../../src/ports/failure.ts";

export const worldUrl = inject("worldUrl");

/** Decides what a stand-in does next; files run side by side, so each step needs its own `match`. */
export async function script(name: string, steps: Record<string, unknown>): Promise<void> {
  const response = await fetch(`${worldUrl}/${name}/script`, {
    method: "POST",
    body: JSON.stringify(steps),
  });
  expect(response.status).toBe(200);
  await response.body?.cancel();
}

/** What the stand-ins recorded, by the fields of the entry. */
export async function received(fields: Record<string, string>): Promise<unknown[]> {
  const response = await fetch(`${worldUrl}/received?${new URLSearchParams(fields)}`);
  return response.json();
}

export async function collect<T>(pieces: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}

/** The code of the `PortError` that `work` ends with; anything else fails the test. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PortError);
  return (error as PortError).code;
}
