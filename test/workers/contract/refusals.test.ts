import { beforeAll, describe, expect, inject, test } from "vitest";
import { allScopes } from "../../../src/resources/keys/scopes.ts";
import { newRoutingTag, newSecret } from "../../../src/resources/keys/secret.ts";
import { newOrganization, request } from "../../support/worker/client.ts";
import {
  endpoints,
  expectClean,
  expectDocumented,
  expectRefusal,
  fetchService,
  send,
  UNKNOWN_ID,
} from "./endpoints.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Wrong in every later respect, so that whatever is checked first must be what refuses. */
const wrong = { id: "%00", query: "a=%00", raw: '{"a":', contentType: "text/plain" } as const;

function wrongFor(method: string) {
  const { raw, contentType, ...rest } = wrong;
  return method === "GET" ? rest : wrong;
}

async function keyWith(apiKey: string, json: object): Promise<string> {
  const created = await request("POST", "/v1/auth/keys", { key: apiKey, json });
  return created.body.data.key;
}

let forged: Promise<string[]>;
beforeAll(() => {
  forged = forgedKeys();
});

async function forgedKeys(): Promise<string[]> {
  const { apiKey, publicKey } = await newOrganization();
  const check = inject("variables")["KEY_CHECK_SECRET"] ?? "";
  const random = `sk_live_${"A".repeat(49)}`;
  const altered = apiKey.slice(0, -1) + (apiKey.endsWith("A") ? "B" : "A");
  // These two were made by whoever knows how to, but no organization ever got them.
  const ofNobody = await newSecret(newRoutingTag(), check);
  const neverIssued = await newSecret(apiKey.slice("sk_live_".length).slice(0, 10), check);
  return [
    random,
    altered,
    publicKey,
    ofNobody.text,
    neverIssued.text,
    "sk_live_",
    "x".repeat(33_000),
  ];
}

describe.each(endpoints)("$name", (endpoint) => {
  test("asks for a key before anything else", async () => {
    const answer = await send(endpoint, wrongFor(endpoint.method));
    expectRefusal(answer, 401, "missing_api_key");
    expectDocumented(endpoint, answer);
  });

  test("refuses a forged key", async () => {
    for (const key of await forged) {
      const answer = await send(endpoint, { key, ...wrongFor(endpoint.method) });
      expectRefusal(answer, 401, "invalid_api_key");
      expectDocumented(endpoint, answer);
    }
  });

  test("refuses a key that has every scope but the one it needs, before it looks at the request", async () => {
    const { apiKey } = await newOrganization();
    const scopes = allScopes.filter((scope) => scope !== endpoint.operation.scope);
    const key = await keyWith(apiKey, { scopes });
    const answer = await send(endpoint, { key, ...wrongFor(endpoint.method) });
    expectRefusal(answer, 403, "missing_scope");
    expectDocumented(endpoint, answer);
  });

  test("names the methods it has when asked by another", async () => {
    const { apiKey } = await newOrganization();
    const path = endpoint.path.replace(/:\w+/g, UNKNOWN_ID);
    const allowed = new Set(
      endpoints.filter((other) => fits(other.path, path)).map((other) => other.method),
    );
    for (const method of METHODS.filter((candidate) => !allowed.has(candidate))) {
      const answer = await fetchService(method, path, { key: apiKey });
      expectRefusal(answer, 405, "method_not_allowed");
      expectClean(answer);
      const named = new Set(answer.headers.get("allow")?.split(", "));
      named.delete("HEAD");
      expect(named).toEqual(allowed);
    }
  });
});

test("the order is: key, address, rate, scope, validity, existence", async () => {
  const { apiKey } = await newOrganization();
  const here = { "CF-Connecting-IP": "192.0.2.1" };
  const elsewhere = { "CF-Connecting-IP": "192.0.2.2" };
  const key = await keyWith(apiKey, { scopes: [], allowedIps: ["192.0.2.1"] });
  const scoped = await keyWith(apiKey, { scopes: ["agents:write"] });
  const path = `/v1/agents/${UNKNOWN_ID}`;
  const malformed = { raw: "{" };

  const inOrder = [
    await fetchService("PATCH", path, { key, ...malformed, headers: elsewhere }),
    await fetchService("PATCH", path, { key, ...malformed, headers: here }),
    await fetchService("PATCH", path, { key: scoped, ...malformed }),
    await fetchService("PATCH", path, { key: scoped, json: { id: UNKNOWN_ID } }),
  ];
  expect(inOrder.map(({ body }) => body.error.code)).toEqual([
    "ip_not_allowed",
    "missing_scope",
    "validation_failed",
    "agent_not_found",
  ]);

  for (let sent = 1; sent < 60; sent++) {
    await fetchService("GET", "/v1/agents/voices", { key, headers: here });
  }
  const full = await fetchService("PATCH", path, { key, ...malformed, headers: here });
  expectRefusal(full, 429, "rate_limited");
  const address = await fetchService("PATCH", path, { key, headers: elsewhere });
  expectRefusal(address, 403, "ip_not_allowed");
});

test("every endpoint answers a key that has used up its minute with 429 and when to come back", async () => {
  const { apiKey } = await newOrganization();
  for (let sent = 0; sent < 60; sent++) await request("GET", "/v1/auth/scopes", { key: apiKey });
  for (const endpoint of endpoints) {
    const answer = await send(endpoint, { key: apiKey, ...wrongFor(endpoint.method) });
    expectRefusal(answer, 429, "rate_limited");
    expectDocumented(endpoint, answer);
    const wait = Number(answer.headers.get("retry-after"));
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(60);
    expect(answer.headers.get("x-ratelimit-remaining")).toBe("0");
  }
});

function fits(template: string, path: string): boolean {
  const [wanted, sent] = [template.split("/"), path.split("/")];
  return (
    wanted.length === sent.length &&
    wanted.every((part, index) => part.startsWith(":") || part === sent[index])
  );
}
