import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { dailyIn, qstashClient, serveQStash, serveReceiver } from "./qstash-support.ts";

const SUPPORT = new URL("./qstash-support.ts", import.meta.url).href;

function databaseFile(): string {
  const directory = mkdtempSync(join(tmpdir(), "qstash-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return join(directory, "qstash.sqlite");
}

async function serveInChild(database: string): Promise<{ child: ChildProcess; baseUrl: string }> {
  const program = `
    import { serveQStash } from ${JSON.stringify(SUPPORT)};
    const { baseUrl } = await serveQStash({ database: ${JSON.stringify(database)} });
    process.stdout.write(baseUrl);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [baseUrl] = await once(child.stdout, "data");
  return { child, baseUrl: String(baseUrl) };
}

test("a process killed in the middle of a delivery loses no message", async () => {
  await using destination = await serveReceiver(({ path }) => (path === "/held" ? "hold" : {}));
  const database = databaseFile();
  const { child, baseUrl } = await serveInChild(database);
  const client = qstashClient(baseUrl);
  const message = { url: `${destination.url}/done`, body: "done", deduplicationId: "d1" };
  await client.publishJSON(message);
  await destination.arrived(1);
  const held = await client.publishJSON({ url: `${destination.url}/held`, body: "held" });
  await destination.arrived(2);
  const later = await client.publishJSON({ url: `${destination.url}/later`, body: 1, delay: 60 });
  await client.schedules.create({ destination: `${destination.url}/cron`, cron: dailyIn(30) });
  child.kill("SIGKILL");
  await once(child, "exit");

  await using world = await serveQStash({ database });
  await destination.arrived(3);
  expect(destination.received[2]).toMatchObject({
    path: "/held",
    body: '"held"',
    headers: { "upstash-message-id": held.messageId, "upstash-retried": "0" },
  });
  destination.received[2]?.response.end();
  expect(await world.client.publishJSON(message)).toMatchObject({ deduplicated: true });
  await world.qstash.advance(3600);
  const paths = destination.received.map(({ path }) => path);
  expect(paths.toSorted()).toEqual(["/cron", "/done", "/held", "/held", "/later"]);
  expect(world.attempts.map(({ messageId }) => messageId)).toContain(later.messageId);
});

test("a moved clock stays moved after a restart", async () => {
  await using destination = await serveReceiver();
  const database = databaseFile();
  {
    await using world = await serveQStash({ database });
    await world.client.publishJSON({ url: destination.url, body: 1, delay: 600 });
    await world.qstash.advance(500);
  }
  await using world = await serveQStash({ database });
  await world.qstash.advance(100);
  expect(destination.received).toHaveLength(1);
});

test("nothing is delivered before the start, everything after it", async () => {
  await using destination = await serveReceiver();
  const database = databaseFile();
  await using world = await serveQStash({ database, started: false });
  await world.client.publishJSON({ url: destination.url, body: 1 });
  await world.client.publishJSON({ url: destination.url, body: 2, delay: 60 });
  await world.qstash.advance(60);
  expect(destination.received).toHaveLength(0);
  world.qstash.start();
  await world.qstash.idle();
  expect(destination.received).toHaveLength(2);
});
