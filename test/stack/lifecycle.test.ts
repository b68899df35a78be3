import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { familyOf, listeningAddresses, running } from "../support/node/processes.ts";
import {
  type Ready,
  type StackProcess,
  startAndFail,
  startStackProcess,
  temporaryState,
} from "../support/node/stack.ts";

const LOOPBACK = ["0100007F", "0000000000000000FFFF00000100007F"];

describe("a stack that runs", () => {
  const cwd = mkdtempSync(path.join(tmpdir(), "stack-cwd-"));
  const { stateDir, remove } = temporaryState();
  let stack: StackProcess;

  beforeAll(async () => {
    stack = await startStackProcess({
      cwd,
      stateDir: path.relative(cwd, stateDir),
      env: { PUBLIC_WS_URL: "wss://voice.example" },
    });
  });
  afterAll(async () => {
    await stack.stop();
    await remove();
    rmSync(cwd, { recursive: true });
  });

  test("a ready stack names its addresses, two organizations' keys and a webhook secret", () => {
    expect(stack.ready).toEqual({
      ready: true,
      baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      wsUrl: stack.ready.baseUrl.replace("http", "ws"),
      worldUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      organizationId: expect.stringMatching(/^org_/),
      apiKey: expect.stringMatching(/^sk_live_/),
      publicKey: expect.stringMatching(/^pk_live_/),
      webhookSecret: expect.stringMatching(/^whsec_/),
      otherApiKey: expect.stringMatching(/^sk_live_/),
    });
    expect(existsSync(path.join(stateDir, "stack.json"))).toBe(true);
  });

  test("each organization has an agent of its own to talk to", async () => {
    const [agent, ...more] = await agentsOf(stack.ready, stack.ready.apiKey);
    const [other, ...others] = await agentsOf(stack.ready, stack.ready.otherApiKey);
    expect([agent?.id, other?.id]).toEqual([
      expect.stringMatching(/^agt_/),
      expect.stringMatching(/^agt_/),
    ]);
    expect(agent?.id).not.toBe(other?.id);
    expect([more, others]).toEqual([[], []]);
  });

  test("a variable given to the start reaches the Worker", async () => {
    const { gateway } = await initiateCall(stack.ready);
    expect(gateway.url).toMatch(/^wss:\/\/voice\.example\//);
  });

  test.runIf(process.platform === "linux")("nothing listens beyond loopback", () => {
    const addresses = listeningAddresses(familyOf(stack.pid));
    // At least the front, the world, the database and the Worker.
    expect(addresses.length).toBeGreaterThanOrEqual(4);
    expect(addresses.filter((address) => !LOOPBACK.includes(address))).toEqual([]);
  });

  test("a second stack on the same state is refused, and the first goes on", async () => {
    const { code, output } = await startAndFail({ stateDir, args: ["--fresh"] });
    expect([code, output]).toEqual([1, expect.stringContaining("Another stack runs on")]);
    expect(await agentsOf(stack.ready, stack.ready.apiKey)).toHaveLength(1);
  });

  test("a taken port is told before anything is started", async () => {
    const other = temporaryState();
    const { port } = new URL(stack.ready.baseUrl);
    const { code, output } = await startAndFail({ ...other, args: ["--port", port] });
    expect([code, output]).toEqual([1, expect.stringContaining(`port ${port} is taken`)]);
    expect(existsSync(path.join(other.stateDir, "secrets.json"))).toBe(false);
    await other.remove();
  });

  test("a flag or a port that is none ends the start with one line", async () => {
    for (const args of [
      ["--prot", "1"],
      ["--port", "65536"],
    ]) {
      const { code, output } = await startAndFail({ stateDir, args });
      expect([code, output]).toEqual([1, expect.stringContaining(args[0] ?? "")]);
      expect(output.trim().split("\n")).toHaveLength(1);
    }
  });

  test("beside it, a stack keeps its data over every way to end, and --fresh forgets", async () => {
    const own = temporaryState();
    const start = (...args: string[]) => startStackProcess({ stateDir: own.stateDir, args });

    const first = await start();
    const { callId } = await initiateCall(first.ready);
    const knowsItsCall = async ({ ready }: StackProcess) => {
      const answer = await get(ready, `/v1/calls/${callId}`, first.ready.apiKey);
      expect(answer.status).toBe(200);
    };
    await goneAfter(first, async () => expect(await first.stop()).toMatchObject({ code: 0 }));

    const second = await start();
    await knowsItsCall(second);
    await goneAfter(second, () => second.kill());

    const third = await start();
    await knowsItsCall(third);
    await goneAfter(third, async () => {
      process.kill(third.pid, "SIGKILL");
      await third.ended;
    });

    const fresh = await start("--fresh");
    expect((await get(fresh.ready, "/v1/agents", first.ready.apiKey)).status).toBe(401);
    expect(await agentsOf(fresh.ready, fresh.ready.apiKey)).toHaveLength(1);
    await goneAfter(fresh, async () => {
      process.kill(fresh.pid, "SIGINT");
      expect(await fresh.ended).toMatchObject({ code: 0 });
    });
    await own.remove();
  }, 180_000);
});

/** What `end` ends, ends whole: no process of the stack is left. */
async function goneAfter(stack: StackProcess, end: () => Promise<unknown>): Promise<void> {
  const family = familyOf(stack.pid);
  // At least the stack, wrangler with workerd, and the database.
  expect(family.length).toBeGreaterThan(4);
  await end();
  await vi.waitFor(() => expect(running(family)).toEqual([]), 3_000);
}

async function agentsOf(ready: Ready, key: string): Promise<{ id: string }[]> {
  const answer = await get(ready, "/v1/agents", key);
  expect(answer.status).toBe(200);
  const body = (await answer.json()) as { data: { data: { id: string }[] } };
  return body.data.data;
}

async function initiateCall(ready: Ready): Promise<{ callId: string; gateway: { url: string } }> {
  const [agent] = await agentsOf(ready, ready.apiKey);
  const answer = await fetch(`${ready.baseUrl}/v1/calls/initiate`, {
    method: "POST",
    headers: { "X-API-Key": ready.apiKey, "Content-Type": "application/json" },
    body: JSON.stringify({ assistantId: agent?.id, type: "web" }),
  });
  return (await answer.json()) as { callId: string; gateway: { url: string } };
}

function get(ready: Ready, route: string, key: string): Promise<Response> {
  return fetch(`${ready.baseUrl}${route}`, { headers: { "X-API-Key": key } });
}
