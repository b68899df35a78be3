import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

/**
 * One world for all tests inside workerd. A process of its own: vitest resolves what a global setup
 * imports as if it ran in a browser, where sockets and Postgres are stubs.
 */
export default async function setup(project: TestProject) {
  const script = fileURLToPath(new URL("./world.ts", import.meta.url));
  const child = spawn(process.execPath, [script], { stdio: ["pipe", "pipe", "inherit"] });
  const gone = once(child, "exit");
  const ready = once(createInterface({ input: child.stdout }), "line");
  const first = await Promise.race([ready, gone.then(() => null)]);
  if (!first) throw new Error("The world did not start");
  const { worldUrl, variables } = JSON.parse(String(first[0])) as {
    worldUrl: string;
    variables: Record<string, string>;
  };
  project.provide("worldUrl", worldUrl);
  project.provide("variables", variables);
  return async () => {
    child.kill("SIGTERM");
    await gone;
  };
}
