import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { sql } from "drizzle-orm";
import { openLocalWorld, variablesOf } from "../../dev/local-world.ts";
import { operatorFrom } from "../../dev/operator.ts";
import { newSecrets } from "../../dev/secrets.ts";
import type { Context } from "../../src/context.ts";
import { attempts, deliveries, events } from "../../src/db/schema/index.ts";
import { listHistory } from "../../src/resources/webhooks/history.ts";
import { seedTenants } from "./support/seed.ts";

const RECORDS = 1_000_000;
/** Written in one statement; the database answers each within its ten seconds. */
const AT_ONCE = 20_000;
const ROUNDS = 15;
const DAYS = 60;

type Operator = ReturnType<typeof operatorFrom>;

const questions: [what: string, filters: Parameters<typeof listHistory>[1], page: number][] = [
  ["first page", {}, 1],
  ["page 500", {}, 500],
  ["failed", { outcome: "failed" }, 1],
  ["failed, page 500", { outcome: "failed" }, 500],
  ["endpoints' failed", { type: "endpoint", outcome: "failed" }, 1],
  ["a type that never was", { type: "workflow_report" }, 1],
  ["one call", { callId: "call_500000" }, 1],
  ["three days and a half", { startDate: daysAgo(30.3), endDate: daysAgo(26.8) }, 1],
];

/** Pages of a history of a million records, asked as the service asks, over HTTP on loopback. */
export async function run(): Promise<void> {
  const stateDir = mkdtempSync(path.join(tmpdir(), "bench-history-"));
  const secrets = newSecrets();
  const world = await openLocalWorld({ stateDir, durable: false, secrets });
  try {
    const variables = variablesOf(world, secrets, "http://service.test");
    const [tenant] = await seedTenants(variables, { organizations: 1, keysEach: 1 });
    if (!tenant) throw new Error("nothing was seeded");
    const operator = operatorFrom(variables);
    await fill(operator, tenant.organizationId);
    const rows: Record<string, object> = {};
    for (const [what, filters, page] of questions) {
      rows[what] = await ask(operator, tenant.organizationId, filters, page);
    }
    console.table(rows);
  } finally {
    await world.close();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

async function ask(
  operator: Operator,
  organizationId: string,
  filters: Parameters<typeof listHistory>[1],
  page: number,
) {
  const ctx = { organizationId, db: operator.tenant(organizationId) } as Context;
  const times: number[] = [];
  let totalCount = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const begin = performance.now();
    ({ totalCount } = await listHistory(ctx, filters, { page, pageSize: 20 }));
    times.push(performance.now() - begin);
  }
  times.sort((a, b) => a - b);
  const ms = (share: number) => Number((times[Math.floor(share * ROUNDS)] ?? 0).toFixed(1));
  return { "median ms": ms(0.5), "worst ms": ms(0.99), records: totalCount };
}

async function fill(operator: Operator, org: string): Promise<void> {
  const at = sql`now() - (n::float8 / ${RECORDS}) * make_interval(days => ${DAYS})`;
  for (let from = 0; from < RECORDS; from += AT_ONCE) {
    const series = sql`generate_series(${from + 1}::int, ${from + AT_ONCE}::int) n`;
    await operator.system.run((q) => [
      q.execute(sql`
        insert into ${events} (org_id, id, type, call_id, body, created_at)
        select ${org}, 'evt_' || n, 'call.completed', 'call_' || n, '{}', ${at} from ${series}`),
      q.execute(sql`
        insert into ${deliveries}
          (org_id, id, event_id, type, url, key_id, state, attempts, created_at)
        select ${org}, 'whd_' || n, 'evt_' || n, 'developer_callback', 'https://example.com/',
          'key', 'delivered', 1, ${at} from ${series}`),
      q.execute(sql`
        insert into ${attempts} (org_id, id, delivery_id, event_id, call_id, attempt, type, url,
          outcome, response_code, response_body, request_duration, created_at)
        select ${org}, 'wha_' || n, 'whd_' || n, 'evt_' || n, 'call_' || n, 1,
          case when n % 4 = 0 then 'endpoint' else 'developer_callback' end,
          'https://example.com/', case when n % 10 = 0 then 'failed' else 'received' end,
          200, 'ok', 12, ${at} from ${series}`),
    ]);
  }
  await operator.system.run((q) => [q.execute(sql`analyze`)]);
}

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString();
}
