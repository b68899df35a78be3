/** One JSON line. The fields are ids, numbers and codes: never content, never a secret. */
export function log(
  level: "info" | "warn" | "error",
  event: string,
  fields: Record<string, string | number | boolean | null | undefined> = {},
): void {
  console[level](JSON.stringify({ level, event, ...fields }));
}
