import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { newWebhookSecret } from "../src/resources/webhooks/secret.ts";
import { signatureHeaders } from "../src/resources/webhooks/sign.ts";

/** Each receiver of docs/webhooks.md: its heading, its file, and how its runtime starts it. */
const receivers = [
  {
    heading: "TypeScript",
    file: "receiver.ts",
    runtime: process.execPath,
    args: () => ["receiver.ts"],
  },
  { heading: "Python", file: "receiver.py", runtime: "python3", args: () => ["receiver.py"] },
  { heading: "Go", file: "receiver.go", runtime: "go", args: () => ["run", "receiver.go"] },
  { heading: "Ruby", file: "receiver.rb", runtime: "ruby", args: () => ["receiver.rb"] },
  {
    heading: "PHP",
    file: "receiver.php",
    runtime: "php",
    args: (port: number) => ["-S", `127.0.0.1:${port}`, "receiver.php"],
  },
];
/** `go run` compiles first. */
const READY_WITHIN_MS = 60_000;

const guide = readFileSync(new URL("../docs/webhooks.md", import.meta.url), "utf8");

/** The program below a heading of the guide. */
function programOf(heading: string): string {
  const [, program] = new RegExp(`### ${heading}\n+\`\`\`\\w+\n(.*?)\`\`\``, "s").exec(guide) ?? [];
  if (!program) throw new Error(`docs/webhooks.md has no receiver in ${heading}`);
  return program;
}

const secret = newWebhookSecret();
const data = { z: 1, "10": "ten", text: "नमस्ते 你好 🦜" };
const body = JSON.stringify({ id: "evt_1", type: "call.completed", data });

async function deliveries(): Promise<[what: string, sent: RequestInit, accepted: boolean][]> {
  const [now, id] = [Date.now(), "evt_1"];
  const genuine = await signatureHeaders([newWebhookSecret(), secret], { id, body }, now);
  const foreign = await signatureHeaders([newWebhookSecret()], { id, body }, now);
  const old = await signatureHeaders([secret], { id, body }, now - 600_000);
  return [
    ["a genuine delivery", { headers: genuine, body }, true],
    ["an altered body", { headers: genuine, body: `${body} ` }, false],
    ["another id", { headers: { ...genuine, "webhook-id": "evt_2" }, body }, false],
    ["a foreign signature", { headers: foreign, body }, false],
    ["an old delivery", { headers: old, body }, false],
    ["no signature", { body }, false],
  ];
}

async function check({
  heading,
  file,
  runtime,
  args,
}: (typeof receivers)[number]): Promise<string> {
  const program = programOf(heading);
  if (spawnSync(runtime, [runtime === "go" ? "version" : "--version"]).error) {
    return `skipped ${heading}: ${runtime} is not installed`;
  }
  const folder = mkdtempSync(path.join(tmpdir(), "docs-check-"));
  writeFileSync(path.join(folder, file), program);
  writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
  const port = await freePort();
  const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret };
  const child = spawn(runtime, args(port), { cwd: folder, env, stdio: "ignore", detached: true });
  try {
    await untilItListens(child, port);
    for (const [what, sent, accepted] of await deliveries()) {
      const answer = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", ...sent });
      if (answer.ok !== accepted) {
        throw new Error(`The receiver in ${heading} answered ${answer.status} to ${what}`);
      }
    }
    return `ok      ${heading}`;
  } finally {
    end(child);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function untilItListens(child: ChildProcess, port: number): Promise<void> {
  const until = Date.now() + READY_WITHIN_MS;
  for (;;) {
    try {
      await fetch(`http://127.0.0.1:${port}/`, { method: "POST" });
      return;
    } catch (error) {
      if (child.exitCode !== null || Date.now() > until) {
        throw new Error("A receiver of the guide did not start", { cause: error });
      }
      await delay(50);
    }
  }
}

/** With what it started: `go run` is the parent of the program. */
function end(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  await once(server.close(), "close");
  return typeof address === "object" && address ? address.port : 0;
}

for (const receiver of receivers) console.log(await check(receiver));
