import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { readStackFile } from "../../dev/stack-file.ts";
import { projectRoot, type StackProcess, startStackProcess } from "../support/node/stack.ts";

let stack: StackProcess;

beforeAll(async () => {
  stack = await startStackProcess();
});
afterAll(() => stack.stop());

test("a third organization, made on the running stack, has a key that works at once", async () => {
  const { code, out } = await admin("org create --name Third --json", onStack());
  expect([code, out.trim().split("\n")]).toEqual([0, [expect.any(String)]]);
  const made = JSON.parse(out) as Record<string, string>;
  expect(made).toEqual({
    organizationId: expect.stringMatching(/^org_/),
    apiKey: expect.stringMatching(/^sk_live_/),
    publicKey: expect.stringMatching(/^pk_live_/),
    webhookSecret: expect.stringMatching(/^whsec_/),
  });
  expect(made["organizationId"]).not.toBe(stack.ready.organizationId);
  const answer = await fetch(`${stack.ready.baseUrl}/v1/agents`, {
    headers: { "X-API-Key": made["apiKey"] ?? "" },
  });
  expect([answer.status, await answer.json()]).toEqual([
    200,
    expect.objectContaining({ data: expect.objectContaining({ data: [] }) }),
  ]);
});

test("the audit of an organization's keys begins with its first key's creation", async () => {
  const { organizationId } = stack.ready;
  const { code, out } = await admin(`keys audit --org ${organizationId} --json`, onStack());
  expect([code, JSON.parse(out)]).toEqual([
    0,
    [expect.objectContaining({ action: "created", actorKeyId: null })],
  ]);
  const nobody = await admin("keys audit --org org_nobody", onStack());
  expect(nobody).toMatchObject({ code: 1, err: "There is no organization org_nobody\n" });
});

test("a closed organization answers 404 from when its gate heard of it", async () => {
  const made = JSON.parse((await admin("org create --name Closing --json", onStack())).out);
  const ask = () =>
    fetch(`${stack.ready.baseUrl}/v1/agents`, { headers: { "X-API-Key": made.apiKey } });
  expect((await ask()).status).toBe(200);
  const { code, out } = await admin(`org close --org ${made.organizationId} --json`, onStack());
  expect([code, JSON.parse(out)]).toEqual([
    0,
    { organizationId: made.organizationId, closed: true },
  ]);
  const refused = await vi.waitFor(async () => {
    const answer = await ask();
    expect(answer.status).toBe(404);
    return answer.json();
  });
  expect(refused).toMatchObject({ error: { code: "organization_not_found" } });
});

test("the environment's variables name the installation when no stack is named", async () => {
  const variables = readStackFile(stack.stateDir)?.variables ?? {};
  const { code, out } = await admin("org create --name Fourth --json", [], variables);
  const { apiKey } = JSON.parse(out) as { apiKey: string };
  const answer = await fetch(`${stack.ready.baseUrl}/v1/agents`, {
    headers: { "X-API-Key": apiKey },
  });
  expect([code, answer.status]).toEqual([0, 200]);

  const { VAULT_KEYS: _, ...incomplete } = variables;
  const refused = await admin("org create --name Fifth", [], incomplete);
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("VAULT_KEYS is not set") });
});

test("a stack that is not there is named, and nothing is made", async () => {
  const { port } = new URL(stack.ready.baseUrl);
  const right = await admin("org create --name Sixth", [...onStack(), "--port", port]);
  expect(right.code).toBe(0);
  const wrong = await admin("org create --name Sixth", [...onStack(), "--port", "1"]);
  expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining(stack.ready.baseUrl) });
  const nowhere = path.join(tmpdir(), "no-such-stack");
  const missing = await admin("org create --name Sixth", ["--state", nowhere]);
  expect(missing).toMatchObject({ code: 1, err: expect.stringContaining(nowhere) });
});

test("anything else is answered with the usage", async () => {
  const commands = ["", "org create", "org create --nam x"];
  for (const { code, out, err } of await Promise.all(commands.map((line) => admin(line)))) {
    expect([code, out, err]).toEqual([2, "", expect.stringContaining("Usage: npm run admin")]);
  }
});

const onStack = () => ["--state", stack.stateDir];

async function admin(
  line: string,
  flags: string[] = [],
  env: Record<string, string> = {},
): Promise<{ code: number; out: string; err: string }> {
  const script = path.join(projectRoot, "dev", "admin.ts");
  const args = [script, ...line.split(" ").filter(Boolean), ...flags];
  const { DATABASE_URL: _, ...inherited } = process.env;
  const options = { env: { ...inherited, ...env } };
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, options);
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, err: stderr };
  }
}
