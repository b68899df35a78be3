import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { unstable_readConfig } from "wrangler";
import { watchOver } from "../../../dev/watchdog.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const require = createRequire(import.meta.url);
const wrangler = path.join(
  path.dirname(require.resolve("wrangler/package.json")),
  "bin/wrangler.js",
);
/** Wrangler's own: the benchmark runs the runtime that `npm start` runs. */
const workerd: string = createRequire(require.resolve("wrangler/package.json"))("workerd").default;

export type Server = { port: number; pid: number; stop(): Promise<void> };

/**
 * Bundles a Worker as a deployment would and serves it with the bare runtime: under `wrangler dev`
 * a proxy in front of it would be most of what is measured.
 *
 * @param configPath `wrangler.toml`, relative to the project
 * @param directory for bundle, configuration and the objects' storage; it begins empty
 */
export async function serveWorker(options: {
  configPath: string;
  directory: string;
  variables: Record<string, string>;
}): Promise<Server> {
  const { configPath, directory, variables } = options;
  mkdirSync(path.join(directory, "objects"), { recursive: true });
  const { compatibility_date: date = "", compatibility_flags: flags } = configOf("wrangler.toml");
  await promisify(execFile)(
    process.execPath,
    [
      ...[wrangler, "deploy", "--dry-run", "--minify", `--outdir=${directory}`],
      ...[`--config=${configPath}`, `--compatibility-date=${date}`],
      ...flags.map((flag: string) => `--compatibility-flag=${flag}`),
    ],
    { cwd: root, env: { ...process.env, WRANGLER_SEND_METRICS: "false", CI: "true" } },
  );
  const { main, durable_objects } = configOf(configPath);
  const file = path.join(directory, "config.capnp");
  writeFileSync(
    file,
    workerdConfig({
      module: `${path.parse(main ?? "").name}.js`,
      date,
      flags,
      objects: durable_objects.bindings,
      storage: path.join(directory, "objects"),
      variables,
    }),
    { mode: 0o600 },
  );
  return start(file);
}

const configOf = (file: string) => unstable_readConfig({ config: path.join(root, file) });

function workerdConfig(worker: {
  module: string;
  date: string;
  flags: string[];
  objects: { name: string; class_name: string }[];
  storage: string;
  variables: Record<string, string>;
}): string {
  const text = (value: string) => JSON.stringify(value);
  const bindings = [
    ...Object.entries(worker.variables).map(([k, v]) => `(name = ${text(k)}, text = ${text(v)})`),
    ...worker.objects.map(
      (each) => `(name = ${text(each.name)}, durableObjectNamespace = ${text(each.class_name)})`,
    ),
  ];
  const namespaces = worker.objects.map(
    ({ class_name: name }) =>
      `(className = ${text(name)}, uniqueKey = ${text(name)}, enableSql = true)`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "internet", network = (allow = ["public", "private"])),
    (name = "objects", disk = (path = ${text(worker.storage)}, writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "main", esModule = embed ${text(worker.module)})],
  compatibilityDate = ${text(worker.date)},
  compatibilityFlags = [${worker.flags.map(text).join(", ")}],
  bindings = [${bindings.join(", ")}],
  durableObjectNamespaces = [${namespaces.join(", ")}],
  durableObjectStorage = (localDisk = "objects"),
);
`;
}

/** The runtime tells its port on the descriptor it was given for that. */
async function start(file: string): Promise<Server> {
  const child = spawn(workerd, ["serve", file, "--control-fd=3"], {
    stdio: ["ignore", "ignore", "inherit", "pipe"],
  });
  const exited = once(child, "exit");
  const callOff = watchOver(child.pid ?? 0, { signal: "KILL" });
  const told = createInterface({ input: child.stdio[3] as Readable });
  const line = await Promise.race([
    once(told, "line").then(([first]) => String(first)),
    exited.then(() => {
      throw new Error("workerd did not start");
    }),
  ]);
  const { port } = JSON.parse(line) as { port: number };
  const stop = async () => {
    callOff();
    child.kill("SIGKILL");
    await exited;
  };
  return { port, pid: child.pid ?? 0, stop };
}
