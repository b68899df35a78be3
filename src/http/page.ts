import * as z from "zod";

export const MAX_PAGE_SIZE = 100;

/** Lenient: what is no number, or too small or large, is clamped, and `meta` says what was used. */
export const Paging = z.object({
  page: z.string().optional().meta({
    type: "integer",
    description: "From 1; what is not is clamped, and `meta` says what was used",
  }),
  pageSize: z
    .string()
    .optional()
    .meta({
      type: "integer",
      description: `1 to ${MAX_PAGE_SIZE}; what is not is clamped, and \`meta\` says what was used`,
    }),
});

export type Page = { page: number; pageSize: number };

export const Meta = z.object({
  page: z.int(),
  pageSize: z.int(),
  totalPages: z.int(),
  totalCount: z.int(),
});

/** Postgres's OFFSET is a bigint; a page beyond this is empty anyway. */
const MAX_PAGE = 1_000_000;

export function pageOf(
  query: { page?: string | undefined; pageSize?: string | undefined },
  defaultSize: number,
): Page {
  return {
    page: clamp(query.page, 1, MAX_PAGE) ?? 1,
    pageSize: clamp(query.pageSize, 1, MAX_PAGE_SIZE) ?? defaultSize,
  };
}

/** Keys and agents answer everything up to `cap` unless they are asked to page. */
export function pageOrAll(
  query: { page?: string | undefined; pageSize?: string | undefined },
  cap: number,
): Page {
  if (query.page === undefined && query.pageSize === undefined) return { page: 1, pageSize: cap };
  return pageOf(query, MAX_PAGE_SIZE);
}

export function metaOf({ page, pageSize }: Page, totalCount: number): z.infer<typeof Meta> {
  return { page, pageSize, totalPages: Math.ceil(totalCount / pageSize), totalCount };
}

function clamp(text: string | undefined, low: number, high: number): number | undefined {
  if (!text?.trim()) return undefined;
  const number = Math.trunc(Number(text));
  return Number.isNaN(number) ? undefined : Math.min(high, Math.max(low, number));
}
