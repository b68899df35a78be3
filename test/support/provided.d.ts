import "vitest";

declare module "vitest" {
  /** What the global setup hands to the tests inside workerd. */
  interface ProvidedContext {
    worldUrl: string;
    variables: Record<string, string>;
  }
}
