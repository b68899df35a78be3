import { buildAssets } from "./assets.ts";
import { runTool } from "./run-tool.ts";

const MAX_GZIP_KIB = 450;

/** What a deployment would upload, without uploading it. */
buildAssets();
const { ok, output } = await runTool("wrangler/bin/wrangler.js", [
  "deploy",
  "--dry-run",
  "--minify",
  "--outdir=dist/worker",
]);
const size = /gzip: ([\d.]+) KiB/.exec(output)?.[1];
if (!ok || size === undefined) {
  console.error(output);
  process.exit(1);
}
console.log(`dist/worker: ${size} KiB gzip, of at most ${MAX_GZIP_KIB}`);
process.exit(Number(size) <= MAX_GZIP_KIB ? 0 : 1);
