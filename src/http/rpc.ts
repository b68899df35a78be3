import { Unavailable } from "../errors.ts";

/**
 * Calls a Durable Object; when the call breaks, once more on a new stub, since a broken stub stays
 * broken. `repeatable` says that a second arrival of the same call changes nothing.
 */
export async function callObject<Stub, T>(
  newStub: () => Stub,
  call: (stub: Stub) => Promise<T>,
  { what, repeatable }: { what: string; repeatable: boolean },
): Promise<T> {
  try {
    return await call(newStub());
  } catch (first) {
    if (!repeatable || isFinal(first)) throw new Unavailable(what, { cause: first });
    try {
      return await call(newStub());
    } catch (second) {
      throw new Unavailable(what, { cause: second });
    }
  }
}

/** What the object's own code threw it would throw again, and an overloaded one needs fewer calls. */
function isFinal(error: unknown): boolean {
  const { remote, retryable, overloaded } = Object(error) as Record<string, unknown>;
  return overloaded === true || (remote === true && retryable !== true);
}
