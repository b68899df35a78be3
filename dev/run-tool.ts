import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

export type ToolResult = { ok: boolean; output: string };

/** Where a tool of the project's own packages starts, e.g. `toolPath("typescript/bin/tsc")`. */
export const toolPath = (file: string) => path.join(root, "node_modules", file);

/** Runs a tool in the project's root, without a terminal and without a question asked. */
export async function runTool(file: string, args: string[]): Promise<ToolResult> {
  const child = spawn(process.execPath, [toolPath(file), ...args], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      CI: "true",
      WRANGLER_SEND_METRICS: "false",
      WRANGLER_HIDE_BANNER: "true",
    },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const [code] = await once(child, "close");
  return { ok: code === 0, output };
}
