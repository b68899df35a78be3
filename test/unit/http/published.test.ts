import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { apiDocument } from "../../../dev/assets.ts";
import published from "./published.json" with { type: "json" };

/*
 * Whoever builds on an endpoint relies on it. `published.json` is what they were promised: it grows
 * with every endpoint, and only a `Breaking` line in the changelog lets one leave.
 */
const current = Object.entries(apiDocument().paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
);
const changelog = readFileSync(new URL("../../../CHANGELOG.md", import.meta.url), "utf8");
const breaking = changelog.split("\n").filter((line) => line.includes("Breaking"));

test("no endpoint leaves /openapi.json without a Breaking line that names it in the changelog", () => {
  const gone = published.filter((endpoint) => !current.includes(endpoint));
  const unannounced = gone.filter(
    (endpoint) => !breaking.some((line) => line.includes(`\`${endpoint}\``)),
  );
  expect(unannounced).toEqual([]);
});

test("every endpoint is in published.json, so that it cannot leave unseen", () => {
  expect(current.filter((endpoint) => !published.includes(endpoint))).toEqual([]);
});
