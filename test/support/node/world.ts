import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { openLocalWorld, variablesOf } from "../../../dev/local-world.ts";
import { newSecrets } from "../../../dev/secrets.ts";

/** Nobody listens here: inside workerd the tests bring the queue's messages themselves. */
const PUBLIC_URL = "http://service.test";

const stateDir = mkdtempSync(path.join(tmpdir(), "service-test-"));
const secrets = newSecrets();
const world = await openLocalWorld({ stateDir, durable: false, secrets });

async function stop() {
  await world.close();
  rmSync(stateDir, { recursive: true, force: true });
  process.exit(0);
}
process.on("SIGTERM", () => void stop());
// The tests were killed: nobody is left to say stop.
process.stdin.resume().on("end", () => void stop());

console.log(
  JSON.stringify({
    worldUrl: world.url,
    variables: {
      ...variablesOf(world, secrets, PUBLIC_URL),
      PUBLIC_WS_URL: PUBLIC_URL.replace("http", "ws"),
    },
  }),
);
