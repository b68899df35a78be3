import { expect, test } from "vitest";
import { newOrganization, request } from "../../support/worker/client.ts";

const codeOf = (answer: Awaited<ReturnType<typeof request>>) => [
  answer.status,
  answer.body.error?.code,
];

test("an unknown path is 404, and under /v1 asks for a key first", async () => {
  const { apiKey } = await newOrganization();
  expect(codeOf(await request("GET", "/nothing"))).toEqual([404, "not_found"]);
  expect(codeOf(await request("GET", "//v1/agents"))).toEqual([404, "not_found"]);
  expect(codeOf(await request("GET", "/v1"))).toEqual([401, "missing_api_key"]);
  expect(codeOf(await request("GET", "/v1/nothing"))).toEqual([401, "missing_api_key"]);
  const known = await request("GET", "/v1/nothing", { key: apiKey });
  expect(codeOf(known)).toEqual([404, "not_found"]);
  expect(known.headers.get("x-ratelimit-remaining")).toBe("59");
});

test("a path that no URL may hold is only a path that is not there", async () => {
  for (const path of ["/%zz", "/%00", "/%ED%A0%80", "/assets/%", "/assets/%00", "/%2e%2e/docs%"]) {
    expect(codeOf(await request("GET", path))).toEqual([404, "not_found"]);
  }
});

test("a wrong method is 405 and names the right ones, on pages too", async () => {
  const { apiKey } = await newOrganization();
  const keys = await request("DELETE", "/v1/auth/keys", { key: apiKey });
  expect(codeOf(keys)).toEqual([405, "method_not_allowed"]);
  expect(keys.headers.get("allow")).toBe("POST, GET, HEAD");
  for (const path of ["/", "/docs", "/openapi.json", "/healthz", "/assets/site.css"]) {
    const page = await request("POST", path);
    expect([path, ...codeOf(page)]).toEqual([path, 405, "method_not_allowed"]);
    expect(page.headers.get("allow")).toBe("GET, HEAD");
  }
});

test("HEAD answers like GET, without a body", async () => {
  const { apiKey } = await newOrganization();
  const answer = await request("HEAD", "/v1/agents", { key: apiKey });
  expect([answer.status, answer.body]).toEqual([200, ""]);
  expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
});
