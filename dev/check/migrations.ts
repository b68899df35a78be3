import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { runTool, type ToolResult } from "../run-tool.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const migrations = path.join(root, "migrations");
const SCHEMA = "./src/db/schema/index.ts";

/**
 * Whether the migrations are sound and lead to the schema. The tool's exit codes do not say so: it
 * ends with 0 after a warning that a migration would never be applied, and after a question that
 * nobody could answer.
 */
export async function migrationsMatchSchema(): Promise<ToolResult> {
  const strangers = unlistedFiles();
  if (strangers.length > 0) {
    return { ok: false, output: `Not both a file and in the journal: ${strangers.join(", ")}` };
  }
  // A copy: with a difference the tool would write a migration.
  const folder = mkdtempSync(path.join(tmpdir(), "migrations-"));
  try {
    cpSync(migrations, folder, { recursive: true });
    // The tool takes even an absolute path for a relative one.
    const where = ["--dialect=postgresql", `--out=${path.relative(root, folder)}`];
    const checked = await runTool("drizzle-kit/bin.cjs", ["check", ...where]);
    if (!checked.ok || checked.output.includes("Warning")) return { ...checked, ok: false };
    const generated = await runTool("drizzle-kit/bin.cjs", [
      "generate",
      ...where,
      `--schema=${SCHEMA}`,
    ]);
    const same = generated.output.includes("No schema changes, nothing to migrate");
    return { ok: generated.ok && same, output: `${generated.output}\nRun: npm run migration` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function unlistedFiles(): string[] {
  const journal = readFileSync(path.join(migrations, "meta", "_journal.json"), "utf8");
  const { entries } = JSON.parse(journal) as { entries: { tag: string }[] };
  const listed = entries.map(({ tag }) => `${tag}.sql`);
  const files = readdirSync(migrations).filter((name) => name.endsWith(".sql"));
  return [...new Set(listed).symmetricDifference(new Set(files))];
}
