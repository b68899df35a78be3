import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
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

/** Files of libraries that browsers load, by where they go: nothing is fetched from elsewhere. */
const LIBRARY_FILES: Record<string, readonly string[]> = {
  "swagger-ui-dist": ["swagger-ui.css", "swagger-ui-bundle.js"],
};

/** Puts together what the Worker serves as static files. */
export function buildAssets(): void {
  cpSync(path.join(root, "src", "web", "static"), out, { recursive: true });
  copyLibraries();
  writeFileSync(path.join(out, "openapi.json"), JSON.stringify(apiDocument(), null, 1));
  writeFileSync(path.join(out, "changelog.html"), changelogPage());
}

function copyLibraries(): void {
  const assets = path.join(out, "assets");
  mkdirSync(assets, { recursive: true });
  const { resolve } = createRequire(import.meta.url);
  for (const [name, files] of Object.entries(LIBRARY_FILES)) {
    const from = path.dirname(resolve(`${name}/package.json`));
    for (const file of files) cpSync(path.join(from, file), path.join(assets, file));
  }
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
  const template = readFileSync(path.join(root, "src", "web", "static", "changelog.html"), "utf8");
  const changelog = readFileSync(path.join(root, "CHANGELOG.md"), "utf8");
  return template.replace("<!-- changelog -->", () => marked.parse(changelog, { async: false }));
}

if (process.argv[1] === import.meta.filename) buildAssets();
