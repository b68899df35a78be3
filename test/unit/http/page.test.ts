import { expect, test } from "vitest";
import { metaOf, pageOf, pageOrAll } from "../../../src/http/page.ts";

test("bad paging is clamped, never refused", () => {
  const used = (page: string, pageSize: string) => pageOf({ page, pageSize }, 20);
  expect(used("3", "50")).toEqual({ page: 3, pageSize: 50 });
  expect(used("0", "0")).toEqual({ page: 1, pageSize: 1 });
  expect(used("-1", "1e9")).toEqual({ page: 1, pageSize: 100 });
  expect(used("1e9", "10.9")).toEqual({ page: 1_000_000, pageSize: 10 });
  expect(used("Infinity", "-Infinity")).toEqual({ page: 1_000_000, pageSize: 1 });
});

test("what is no number at all means the default", () => {
  for (const text of ["abc", "", " ", "NaN", "1,2"]) {
    expect(pageOf({ page: text, pageSize: text }, 20)).toEqual({ page: 1, pageSize: 20 });
  }
  expect(pageOf({}, 20)).toEqual({ page: 1, pageSize: 20 });
});

test("lists that answer everything page only when they are asked to", () => {
  expect(pageOrAll({}, 1_000)).toEqual({ page: 1, pageSize: 1_000 });
  expect(pageOrAll({ page: "2" }, 1_000)).toEqual({ page: 2, pageSize: 100 });
});

test("meta counts pages, and there are none of nothing", () => {
  expect(metaOf({ page: 1, pageSize: 20 }, 41).totalPages).toBe(3);
  expect(metaOf({ page: 9, pageSize: 20 }, 0)).toEqual({
    page: 9,
    pageSize: 20,
    totalPages: 0,
    totalCount: 0,
  });
});
