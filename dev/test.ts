import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { buildAssets } from "./assets.ts";

/** Runs vitest with what it was given, and ends with a line that counts. */
buildAssets();
const folder = mkdtempSync(path.join(tmpdir(), "service-report-"));
const report = path.join(folder, "report.json");
const { status } = spawnSync(
  process.execPath,
  [
    "node_modules/vitest/vitest.mjs",
    "run",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  { stdio: "inherit" },
);

type Report = { numPassedTests: number; numFailedTests: number };
let counts: Report = { numPassedTests: 0, numFailedTests: 1 };
try {
  counts = JSON.parse(readFileSync(report, "utf8")) as Report;
} catch {
  console.error("vitest wrote no report");
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${counts.numPassedTests} passed, ${counts.numFailedTests} failed`);
process.exit(status === 0 && counts.numFailedTests === 0 ? 0 : 1);
