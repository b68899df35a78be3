import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { marked } from "marked";
import { createApp } from "../src/app.ts";
import { openApi } from "../src/http/openapi.ts";

declare global {
  /** The Worker's bindings that its routes name: Node has no types of the platform. */
  interface Env {
    ASSETS: { fetch(request: Request): Promise<Response> };
  }
}

const root = fileURLToPath(new URL("..", import.meta.url));
const out = path.join(root, "dist", "web");

/** Its file is a template: the changelog goes into it. */
const CHANGELOG_PAGE = "changelog.html";

/** Files of libraries that browsers load, by where they go: nothing is fetched from elsewhere. */
const LIBRARY_FILES: Record<string, readonly string[]> = {
  "swagger-ui-dist": ["swagger-ui.css", "swagger-ui-bundle.js"],
};

/**
 * Puts together what the Worker serves as static files. A file that is as it should be is left
 * alone: every stack that runs on this folder reloads its Worker, and cuts its calls, at a change.
 */
export function buildAssets(): void {
  const pages = path.join(root, "src", "web", "static");
  for (const file of readdirSync(pages, { recursive: true, withFileTypes: true })) {
    if (!file.isFile() || file.name === CHANGELOG_PAGE) continue;
    const from = path.join(file.parentPath, file.name);
    put(path.relative(pages, from), readFileSync(from));
  }
  const { resolve } = createRequire(import.meta.url);
  for (const [name, files] of Object.entries(LIBRARY_FILES)) {
    const from = path.dirname(resolve(`${name}/package.json`));
    for (const file of files) put(path.join("assets", file), readFileSync(path.join(from, file)));
  }
  put("openapi.json", Buffer.from(JSON.stringify(apiDocument(), null, 1)));
  put(CHANGELOG_PAGE, Buffer.from(changelogPage()));
}

/** In one step, so that nobody reads half a file. */
function put(name: string, content: Buffer): void {
  const file = path.join(out, name);
  if (existsSync(file) && readFileSync(file).equals(content)) return;
  mkdirSync(path.dirname(file), { recursive: true });
  const beside = `${file}.${process.pid}`;
  writeFileSync(beside, content);
  renameSync(beside, file);
}

/** OpenAPI of the very routes that the Worker serves. Nothing is asked of their wiring. */
export function apiDocument() {
  const app = createApp(() => {
    throw new Error("the document needs no wiring");
  });
  return openApi(app.routes, {
    title: "Voice Agent API",
    version: "1.0.0",
    description: "AI voice agents on the web and on the phone",
  });
}

function changelogPage(): string {
  const template = readFileSync(path.join(root, "src", "web", "static", CHANGELOG_PAGE), "utf8");
  const changelog = readFileSync(path.join(root, "CHANGELOG.md"), "utf8");
  return template.replace("<!-- changelog -->", () => marked.parse(changelog, { async: false }));
}

if (process.argv[1] === import.meta.filename) buildAssets();
