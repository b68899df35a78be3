// Runs before every script, in any Node from 18 on and without a dependency: installs what the lock
// says when it is not there, and says nothing when it is.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const LEAST_NODE = [22, 12];

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages ?? {};
  } catch {
    return {};
  }
}

const wanted = packagesOf("package-lock.json");
const installed = packagesOf("node_modules/.package-lock.json");
const differs = Object.entries(wanted).some(
  ([path, { optional, peer, version }]) =>
    path !== "" && !optional && !peer && installed[path]?.version !== version,
);
const [major, minor] = process.versions.node.split(".").map(Number);
const isFit = major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1]);
// The npm package "node" brings a fit Node for the scripts of a machine that has only an older one.
const hasFitNode = isFit || existsSync("node_modules/.bin/node");

if (differs || !hasFitNode) {
  console.error("Installing dependencies (once, about 20 s) …");
  const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    stdio: ["ignore", 2, "inherit"],
    shell: process.platform === "win32",
  });
  if (status !== 0) process.exit(status ?? 1);
}
