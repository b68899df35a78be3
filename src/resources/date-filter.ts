import * as z from "zod";

/** Beyond these years ISO 8601 and Postgres write differently; an offset may lead out of them. */
export const DateFilter = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })])
  .refine((text) => /^(?!0000)\d{4}-/.test(new Date(text).toISOString()), {
    error: "must be between the years 1 and 9999",
  });

/** The last instant of a range that ends with this. A date without a time means its whole day. */
export function endOf(text: string): Date {
  return new Date(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T23:59:59.999Z` : text);
}
