import { cpSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Files of libraries that browsers load, by where they go: nothing is fetched from elsewhere. */
const LIBRARY_FILES: Record<string, readonly string[]> = {
  "swagger-ui-dist": ["swagger-ui.css", "swagger-ui-bundle.js"],
};

/** Puts together what the Worker serves as static files. */
export function buildAssets(): void {
  const out = path.join(root, "dist", "web", "assets");
  mkdirSync(out, { recursive: true });
  const { resolve } = createRequire(import.meta.url);
  for (const [name, files] of Object.entries(LIBRARY_FILES)) {
    const from = path.dirname(resolve(`${name}/package.json`));
    for (const file of files) cpSync(path.join(from, file), path.join(out, file));
  }
  cpSync(path.join(root, "src", "web", "static"), out, { recursive: true });
  cpSync(path.join(root, "CHANGELOG.md"), path.join(out, "changelog.md"));
}

if (process.argv[1] === import.meta.filename) buildAssets();
