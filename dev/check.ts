import { migrationsMatchSchema } from "./check/migrations.ts";
import { runTool, type ToolResult } from "./run-tool.ts";

const steps: Record<string, () => Promise<ToolResult>> = {
  "lint and format": () => runTool("@biomejs/biome/bin/biome", ["check", "--error-on-warnings"]),
  "types of the Worker": () => runTool("typescript/bin/tsc", ["-p", "tsconfig.json"]),
  "types of dev and tests": () => runTool("typescript/bin/tsc", ["-p", "dev/tsconfig.json"]),
  // The example sets nothing: without it a developer's own .dev.vars would count as a difference.
  "generated types": () =>
    runTool("wrangler/bin/wrangler.js", [
      "types",
      "--strict-vars=false",
      "--env-file=.dev.vars.example",
      "--check",
    ]),
  "migrations match the schema": migrationsMatchSchema,
};

async function timed(name: string, step: () => Promise<ToolResult>): Promise<boolean> {
  const begin = performance.now();
  const { ok, output } = await step();
  const seconds = ((performance.now() - begin) / 1_000).toFixed(1);
  console.log(`${ok ? "ok    " : "FAILED"}  ${name} (${seconds} s)`);
  if (!ok) console.log(output.trimEnd());
  return ok;
}

const results = await Promise.all(Object.entries(steps).map(([name, step]) => timed(name, step)));
process.exit(results.every(Boolean) ? 0 : 1);
