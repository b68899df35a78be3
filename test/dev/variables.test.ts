import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { expect, test } from "vitest";
import { variableNames } from "../../src/env.ts";

test(".dev.vars.example explains every variable of the service, each in one line", () => {
  const text = readFileSync(new URL("../../.dev.vars.example", import.meta.url), "utf8");
  const lines = text.split("\n").flatMap((line) => /^# ([A-Z_]+=.*)/.exec(line)?.[1] ?? []);
  expect(lines.map((line) => line.split("=")[0])).toEqual(variableNames);
  expect(lines.filter((line) => !/ # \w/.test(line))).toEqual([]);
  // Uncommented, a line sets its variable, and the purpose is no part of the value.
  const set = parseEnv(lines.join("\n"));
  expect(Object.keys(set).toSorted()).toEqual(variableNames.toSorted());
  expect(Object.values(set).filter((value) => value?.includes("#"))).toEqual([]);
});
