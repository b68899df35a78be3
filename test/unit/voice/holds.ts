import * as fc from "fast-check";

/** Asserts a property without promises; the linter cannot tell those from the ones with. */
export const holds = <T>(property: fc.IProperty<T>, numRuns = 100): void =>
  fc.assert(property, { numRuns });
