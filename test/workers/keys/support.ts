import { onTestFinished, vi } from "vitest";
import { listKeyAudit } from "../../../src/operator/list-key-audit.ts";
import { type Answer, env, request, tenantOf, worldUrl } from "../../support/worker/client.ts";

export type NewKey = { id: string; key: string; publicKey: string; webhookSecret: string };

/** A further key of the organization; throws unless it was created. */
export async function createKey(apiKey: string, json: object = {}): Promise<NewKey> {
  const { status, body } = await request("POST", "/v1/auth/keys", { key: apiKey, json });
  if (status !== 201) throw new Error(`creating a key answered ${status}`);
  return body.data;
}

/** An authenticated request that touches nothing but the gate. */
export function knock(key: string, headers: Record<string, string> = {}): Promise<Answer> {
  return request("GET", "/v1/auth/scopes", { key, headers });
}

export function change(apiKey: string, id: string, what: string): Promise<Answer> {
  return request("POST", `/v1/auth/keys/${id}/${what}`, { key: apiKey });
}

export function replaceScopes(apiKey: string, id: string, scopes: string[]): Promise<Answer> {
  return request("PATCH", `/v1/auth/keys/${id}/scopes`, { key: apiKey, json: { scopes } });
}

/** What was done to one key, oldest first. */
export async function auditOf(organizationId: string, keyId: string) {
  const entries = await listKeyAudit(tenantOf(organizationId));
  return entries.filter((entry) => entry.keyId === keyId).reverse();
}

export const routingTagOf = (apiKey: string) => apiKey.slice("sk_live_".length).slice(0, 10);

export const gateOf = (apiKey: string) => env.KEY_GATE.getByName(routingTagOf(apiKey));

/** Counts what this test's own requests ask of the database, from now on. */
export function countNeonRequests(): () => number {
  const spy = vi.spyOn(globalThis, "fetch");
  onTestFinished(() => spy.mockRestore());
  const isNeon = ([target]: unknown[]) => String(target).startsWith(`${worldUrl}/neon/`);
  return () => spy.mock.calls.filter(isNeon).length;
}

/** Cuts the connection of the next database requests whose body holds all of `match`. */
export async function cutNeon(fault: {
  when: "before" | "after";
  match: string[];
  count?: number;
}): Promise<void> {
  const body = JSON.stringify({ target: "neon", mode: "drop", count: 1, ...fault });
  const answer = await fetch(`${worldUrl}/faults`, { method: "POST", body });
  if (answer.status !== 201) throw new Error(`the fault was refused: ${await answer.text()}`);
}

/** The clock of the Worker and its objects stands still at a moment that has not come yet. */
export function stopTheClock(): { advance(ms: number): void } {
  let now = Date.now() + 3_600_000;
  vi.useFakeTimers({ now, toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  return {
    advance(ms) {
      now += ms;
      vi.setSystemTime(now);
    },
  };
}
