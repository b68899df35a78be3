import { describe, expect, test } from "vitest";
import { createApp } from "../../../src/app.ts";
import { Unavailable } from "../../../src/errors.ts";
import { endpointsOf } from "../../../src/http/openapi.ts";
import type { Wiring } from "../../../src/wiring.ts";
import { env, request } from "../../support/worker/client.ts";

const FILES = ["/", "/docs", "/changelog", "/openapi.json", "/assets/site.css", "/assets/docs.js"];

describe.each(FILES)("%s", (path) => {
  test("is public, guarded by headers, and known to caches", async () => {
    const { status, headers, body } = await request("GET", path);
    expect(status).toBe(200);
    expect(body).not.toBe("");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("x-request-id")).toMatch(/^req_/);
    const policy = headers.get("content-security-policy");
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    const again = await request("GET", path, {
      headers: { "If-None-Match": headers.get("etag") ?? "" },
    });
    expect(again.status).toBe(304);
  });
});

test("no page needs a script or a file from elsewhere, or one that is not there", async () => {
  for (const path of ["/", "/docs", "/changelog"]) {
    const { body } = await request("GET", path);
    expect(body).not.toMatch(/<script(?![^>]*\ssrc="\/assets\/)|\son\w+=|javascript:|<style/i);
    for (const [, file = ""] of body.matchAll(/(?:src|href)="([^"#]+)"/g)) {
      expect(file).toMatch(/^\//);
      expect([file, (await request("GET", file)).status]).toEqual([file, 200]);
    }
  }
});

test("/openapi.json describes every endpoint that the service has", async () => {
  const { body } = await request("GET", "/openapi.json");
  const { routes } = createApp(() => {
    throw new Error("only the routes are read");
  });
  const served = endpointsOf(routes).map(
    ({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`,
  );
  const documented = Object.entries<object>(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(body.openapi).toBe("3.1.0");
  // Fails on files of before a change of routes: `node dev/assets.ts` writes them anew.
  expect(documented.sort()).toEqual(served.sort());
});

test("/changelog shows the changelog", async () => {
  const { body } = await request("GET", "/changelog");
  expect(body).toContain("Changelog");
  expect(body).toContain("Unreleased");
  expect(body).not.toContain("<!-- changelog -->");
});

test("a file that is not there is a 404 of ours", async () => {
  for (const path of ["/assets/nothing.js", "/assets/", "/index.html", "/docs.html", "/assets"]) {
    const { status, body } = await request("GET", path);
    expect([path, status, body.error?.code]).toEqual([path, 404, "not_found"]);
  }
});

test("/healthz says that the service is up, to anybody, uncached and unhelpful to the curious", async () => {
  const { status, headers, body } = await request("GET", "/healthz");
  expect([status, body]).toEqual([
    200,
    { status: true, message: "The service is up", warnings: expect.any(Array) },
  ]);
  expect(headers.get("cache-control")).toBe("no-store");
});

test("/healthz is 503 when the database is away", async () => {
  const system = { run: () => Promise.reject(new Unavailable("the database")) };
  await expectUnhealthy({ system } as Partial<Wiring>);
});

test("/healthz is 503 when the database does not answer in time", async () => {
  const system = { run: () => new Promise(() => {}) };
  await expectUnhealthy({ system } as Partial<Wiring>);
});

async function expectUnhealthy(wiring: Partial<Wiring>): Promise<void> {
  const settings = { SWEEP_CRON: "* * * * *" };
  const app = createApp(() => ({ settings, ...wiring }) as Wiring);
  const answer = await app.request("/healthz", {}, env);
  expect(answer.status).toBe(503);
  expect(answer.headers.get("retry-after")).toBe("1");
  expect(await answer.json()).toMatchObject({ success: false, error: { code: "unavailable" } });
}
