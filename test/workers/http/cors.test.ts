import { expect, test } from "vitest";
import { newOrganization, request } from "../../support/worker/client.ts";

const origin = { Origin: "https://elsewhere.example" };
const crossOrigin = (headers: Headers) =>
  [...headers.keys()].filter((name) => name.startsWith("access-control-"));

test("no answer under /v1 lets a browser of another origin read it", async () => {
  const { apiKey } = await newOrganization();
  const answers = [
    await request("GET", "/v1/agents", { key: apiKey, headers: origin }),
    await request("GET", "/v1/agents", { headers: origin }),
    await request("GET", "/v1/nothing", { key: apiKey, headers: origin }),
  ];
  for (const answer of answers) expect(crossOrigin(answer.headers)).toEqual([]);
});

test("a preflight under /v1 is refused like any request without a key", async () => {
  const preflight = {
    ...origin,
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "x-api-key",
  };
  const answer = await request("OPTIONS", "/v1/calls/initiate", { headers: preflight });
  expect(answer.status).toBe(401);
  expect(crossOrigin(answer.headers)).toEqual([]);
});

test("the document of the API may be read from anywhere", async () => {
  const answer = await request("GET", "/openapi.json", { headers: origin });
  expect(answer.headers.get("access-control-allow-origin")).toBe("*");
});
