import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { buildAssets } from "./assets.ts";
import { toolPath } from "./run-tool.ts";

type Report = {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { status: string; assertionResults: { status: string }[] }[];
};

/** Runs vitest with what it was given, and ends with a line that counts. */
buildAssets();
const folder = mkdtempSync(path.join(tmpdir(), "test-report-"));
const report = path.join(folder, "report.json");
const vitest = spawn(
  process.execPath,
  [
    toolPath("vitest/vitest.mjs"),
    "run",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  { stdio: ["ignore", "inherit", "inherit"] },
);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => vitest.kill(signal));
const [code] = await once(vitest, "close");
const { passed, failed } = counts(report, code === 0);
rmSync(folder, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

/** A file that did not load, an error outside of every test, a crash: each is a failure, too. */
function counts(file: string, succeeded: boolean): { passed: number; failed: number } {
  try {
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(
      readFileSync(file, "utf8"),
    ) as Report;
    const brokenFiles = testResults.filter(
      ({ status, assertionResults }) =>
        status === "failed" && assertionResults.every((test) => test.status !== "failed"),
    );
    const failed = numFailedTests + brokenFiles.length;
    return { passed: numPassedTests, failed: succeeded ? failed : Math.max(1, failed) };
  } catch {
    console.error("vitest wrote no report");
    return { passed: 0, failed: 1 };
  }
}
