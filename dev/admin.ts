import { parseArgs } from "node:util";
import { upstashQueue } from "../src/adapters/upstash/queue.ts";
import { closeOrganization } from "../src/operator/close-organization.ts";
import { createOrganization } from "../src/operator/create-organization.ts";
import { listKeyAudit } from "../src/operator/list-key-audit.ts";
import { queueStatus } from "../src/outbox/status.ts";
import { operatorFrom } from "./operator.ts";
import { readStackFile } from "./stack-file.ts";
import { stateDirOf } from "./state-dir.ts";

const USAGE = `Usage: npm run admin -- <command> [flags]

  org create --name NAME    makes an organization and its first key, which may do everything
  org close --org ID        refuses every request of the organization from now on, for good
  keys audit --org ID       lists every change of the organization's keys, newest first
  queue status              says how much work waits, how late it is, and when the last sweep was

  --json         one line of JSON
  --state DIR    the local stack that keeps its state there; default: .state
  --port N       the local stack that serves on this port

Without --state and --port, a DATABASE_URL in the environment names the installation to act on;
then KEY_CHECK_SECRET and VAULT_KEYS must be there as well, and for "org close" QSTASH_TOKEN and
PUBLIC_URL.`;

type Flags = { name?: string; org?: string; json?: boolean; state?: string; port?: string };
type Variables = Record<string, string | undefined>;

async function main(): Promise<number> {
  const parsed = parse();
  if (parsed?.command === "org create" && !parsed.flags.name) console.error("--name is missing");
  const needsOrg = ["org close", "keys audit"].includes(parsed?.command ?? "");
  if (needsOrg && !parsed?.flags.org) console.error("--org is missing");
  if (parsed?.command === "org create" && parsed.flags.name) {
    return createOne(parsed.flags.name, parsed.flags);
  }
  if (parsed?.command === "org close" && parsed.flags.org) {
    return close(parsed.flags.org, parsed.flags);
  }
  if (parsed?.command === "keys audit" && parsed.flags.org) {
    return audit(parsed.flags.org, parsed.flags);
  }
  if (parsed?.command === "queue status") return showQueue(parsed.flags);
  console.error(USAGE);
  return 2;
}

function parse(): { command: string; flags: Flags } | null {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        name: { type: "string" },
        org: { type: "string" },
        json: { type: "boolean" },
        state: { type: "string" },
        port: { type: "string" },
      },
    });
    return { command: positionals.join(" "), flags: values };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return null;
  }
}

async function createOne(name: string, flags: Flags): Promise<number> {
  const created = await createOrganization(operatorFrom(await variablesOf(flags)), { name });
  if (flags.json) console.log(JSON.stringify(created));
  else {
    for (const [field, value] of Object.entries(created)) console.log(field.padEnd(16), value);
    console.log("The API key and the webhook secret are shown this once.");
  }
  return 0;
}

async function close(organizationId: string, flags: Flags): Promise<number> {
  const variables = await variablesOf(flags);
  const queue = upstashQueue({
    url: variables["QSTASH_URL"] ?? "https://qstash.upstash.io",
    token: variables["QSTASH_TOKEN"] ?? "",
    publicUrl: variables["PUBLIC_URL"] ?? "",
  });
  const isKnown = await closeOrganization({ ...operatorFrom(variables), queue }, organizationId);
  if (!isKnown) throw new Error(`There is no organization ${organizationId}`);
  console.log(flags.json ? JSON.stringify({ organizationId, closed: true }) : "Closed.");
  return 0;
}

async function audit(organizationId: string, flags: Flags): Promise<number> {
  const operator = operatorFrom(await variablesOf(flags));
  const entries = await listKeyAudit(operator.tenant(organizationId));
  // An organization begins with a key, and so with an entry.
  if (entries.length === 0) throw new Error(`There is no organization ${organizationId}`);
  if (flags.json) console.log(JSON.stringify(entries));
  else {
    for (const { at, action, keyId, actorKeyId, details } of entries) {
      const by = `by ${actorKeyId ?? "the operator"}`;
      console.log(at, action.padEnd(16), keyId, by, JSON.stringify(details));
    }
  }
  return 0;
}

async function showQueue(flags: Flags): Promise<number> {
  const status = await queueStatus(operatorFrom(await variablesOf(flags)).system);
  if (flags.json) console.log(JSON.stringify(status));
  else for (const [field, value] of Object.entries(status)) console.log(field.padEnd(18), value);
  return 0;
}

/** The variables of the installation to act on. */
async function variablesOf({ state, port }: Flags): Promise<Variables> {
  if (state === undefined && port === undefined && process.env["DATABASE_URL"]) return process.env;
  const stateDir = stateDirOf(state);
  const stack = readStackFile(stateDir);
  if (!stack) throw new Error(`No stack has run on ${stateDir} yet: npm start`);
  const { baseUrl, variables } = stack;
  if (port !== undefined && new URL(baseUrl).port !== port) {
    throw new Error(
      `The stack of ${stateDir} serves on ${baseUrl}; --state names another's folder`,
    );
  }
  const answers = await fetch(`${baseUrl}/healthz`).then(
    () => true,
    () => false,
  );
  if (!answers) throw new Error(`The stack of ${stateDir} does not run: npm start`);
  return variables;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
