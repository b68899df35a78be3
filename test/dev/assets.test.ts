import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { buildAssets } from "../../dev/assets.ts";
import { projectRoot } from "../support/node/stack.ts";

function changeTimes(): Record<string, number> {
  const folder = path.join(projectRoot, "dist", "web");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return Object.fromEntries(files.map((file) => [file, statSync(path.join(folder, file)).mtimeMs]));
}

test("building the same assets again touches no file: running stacks would reload", () => {
  buildAssets();
  const before = changeTimes();
  buildAssets();
  expect(changeTimes()).toEqual(before);
});
