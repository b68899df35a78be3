import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const inRoot = (...parts: string[]) => path.join(root, ...parts);

const docs = existsSync(inRoot("docs")) ? readdirSync(inRoot("docs")) : [];
const documents = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
  .concat(docs.filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`))
  .filter((name) => existsSync(inRoot(name)));

/** Folders and files that begin a path of this repository. */
const tops = new Set(readdirSync(root));
/** What is made here and not kept. */
const MADE = /^(node_modules|dist|\.state|\.wrangler|\.dev\.vars)(\/|$)/;

test.each(documents)("every path that %s cites exists", (name) => {
  const text = readFileSync(inRoot(name), "utf8");
  const missing = [...citedPaths(text), ...linkedPaths(text, name)].filter(
    (cited) => !MADE.test(cited) && !existsSync(inRoot(cited)),
  );
  expect(missing).toEqual([]);
});

/** `src/http/page.ts`, `src/voice/`, `src/app.ts:12`: in backticks, beginning at the root. */
function citedPaths(text: string): string[] {
  return [...text.matchAll(/`([\w.@-]+(?:\/[\w.@-]+)*\/?)(?::\d+)?`/g)]
    .map(([, cited = ""]) => cited)
    .filter((cited) => {
      const [top = ""] = cited.split("/");
      return tops.has(top) || /^(src|test|dev|docs|migrations)\//.test(cited);
    });
}

/** Relative links, from the document's own folder. */
function linkedPaths(text: string, name: string): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target.split("#")[0] ?? "")
    .filter((target) => target !== "" && !/^([a-z]+:|\/)/i.test(target))
    .map((target) => path.join(path.dirname(name), target));
}
