import { describe, expect, test } from "vitest";
import * as z from "zod";
import { newOrganization } from "../../support/worker/client.ts";
import { goodBody } from "./bodies.ts";
import {
  endpoints,
  expectDocumented,
  expectRefusal,
  type Sent,
  send,
  UNKNOWN_ID,
} from "./endpoints.ts";

const NUL = "\\u0000";
const LONE = "\\ud800";
const deep = (open: string, close: string) => open.repeat(100_000) + close.repeat(100_000);

/** Bodies that no endpoint may accept. */
const badBodies: [what: string, sent: Sent][] = [
  ["malformed JSON", { raw: '{"a":' }],
  ["two documents", { raw: "{}{}" }],
  ["only white space", { raw: " \n" }],
  ["null", { raw: "null" }],
  ["an array", { raw: "[]" }],
  ["a string", { raw: '"text"' }],
  ["a number", { raw: "7" }],
  ["a wrong content type", { raw: "{}", contentType: "text/plain" }],
  ["a form", { raw: "a=1", contentType: "application/x-www-form-urlencoded" }],
  ["no content type", { raw: new TextEncoder().encode("{}"), contentType: null }],
  ["arrays 100,000 deep", { raw: deep("[", "]") }],
  ["objects 100,000 deep", { raw: deep('{"a":', "}").replace(":}", ":1}") }],
  ["unclosed brackets", { raw: "[".repeat(100_000) }],
  ["NUL in a value", { raw: `{"a":"${NUL}"}` }],
  ["NUL in a name", { raw: `{"${NUL}":1}` }],
  ["NUL deep inside", { raw: `{"a":[{"b":["${NUL}"]}]}` }],
  ["a lone high surrogate", { raw: `{"a":"${LONE}"}` }],
  ["a lone low surrogate in a name", { raw: '{"\\udc00":1}' }],
  ["bytes that are no UTF-8", { raw: Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) }],
];

/** Additions to a good body that must change nothing. */
const additions = [
  '"__proto__":{"scopes":["keys:write"]}',
  '"constructor":{"prototype":{"polluted":true}}',
  '"orgId":"org_other","organizationId":"org_other","status":"revoked","userId":1',
  '"unknown":{"a":[1,2,{"b":null}]},"unknown":"twice"',
  '"hasOwnProperty":1,"toString":null,"then":"x"',
];

const badQueries = ["a=%00", "%00=a", "page=%00", "__proto__=%00&b=%00"];

const oddQueries = [
  "page=1e9&pageSize=1e9",
  "page=-1&pageSize=0",
  "page=abc&pageSize=abc",
  "page=&pageSize=",
  "page=NaN&pageSize=Infinity",
  "page=1.5&pageSize=0x10",
  "page=1&page=2&pageSize=3&pageSize=4",
  "page[]=1&page[a]=2",
  "__proto__=1&constructor=2&toString=3",
  "a=%zz&b=%E0%A4%A&c=%ED%A0%80",
  "a=%27%3B%20drop%20table%20calls%3B--",
  `a=${"x".repeat(8_000)}`,
  "&&&===",
];

/** Values for each parameter that an endpoint declares. */
const oddValues = ["", "abc", "-1", "1e400", "0000-01-01", "0001-01-01T00:00:00%2B14:00"].concat([
  "9999-12-31T23:59:59-14:00",
  "9999-12-31",
  "2026-02-30",
  "%F0%9F%A6%9C",
  "%25",
  "'",
]);

/** Of the right kind for many a field, and yet not what anybody meant. */
const oddTexts = [
  "0000-01-01T00:00:00Z",
  "9999-12-31T23:59:59-14:00",
  "🦜".repeat(200),
  "x".repeat(40_000),
  "https://[::1]/",
];
const wrongKinds = [null, 0, -1, Number.MAX_VALUE, true, "", [], {}, [null], [[]], [{}], ["", ""]];

const oddIds = [
  "%zz",
  "%E0%A4%A",
  "%ED%A0%80",
  "%27%20or%201%3D1--",
  "%0d%0aSet-Cookie%3A%20a",
  "%2F..%2F..",
  "%F0%9F%A6%9C",
  "__proto__",
  "x".repeat(4_000),
];

const long = "x".repeat(33_000);
const oddHeaders: Record<string, string>[] = [
  { "X-Filler": long },
  { "X-Request-Id": long },
  { "X-Request-Id": "a b\tc" },
  { "X-Request-Id": "x".repeat(129) },
  { "X-Request-Id": "x".repeat(128) },
  { "X-Request-Id": "AZaz09._~-" },
  { "CF-Connecting-IP": long },
  { Accept: long, Cookie: long },
];

const withBody = endpoints.filter(({ body }) => body);
const withId = endpoints.filter(({ takesId }) => takesId);

async function freshKey(): Promise<string> {
  return (await newOrganization()).apiKey;
}

describe.each(withBody)("$name", (endpoint) => {
  test("answers 400 to what is not a body", async () => {
    const key = await freshKey();
    await all(badBodies, async ([what, sent]) => {
      const answer = await send(endpoint, { key, ...sent });
      expect([what, answer.status]).toEqual([what, 400]);
      expectRefusal(answer, 400, "validation_failed");
      expectDocumented(endpoint, answer);
    });
  });

  test("answers 413 to a body beyond a megabyte, however it is sent", async () => {
    const key = await freshKey();
    const raw = JSON.stringify({ a: "x".repeat(2 * 1024 * 1024) });
    const answer = await send(endpoint, { key, raw });
    expectRefusal(answer, 413, "payload_too_large");
    expectDocumented(endpoint, answer);
  });

  test("takes no body for an empty object", async () => {
    const [without, empty] = [await freshKey(), await freshKey()];
    const answers = [
      await send(endpoint, { key: without }),
      await send(endpoint, { key: without, raw: "" }),
      await send(endpoint, { key: empty, json: {} }),
    ];
    const expected = endpoint.body?.safeParse({}).success ? answers[2]?.status : 400;
    for (const answer of answers) {
      expectDocumented(endpoint, answer);
      expect(answer.status).toBe(expected);
    }
  });

  test("ignores fields that it does not know, whatever they are called", async () => {
    const good = JSON.stringify(goodBody(endpoint, { id: UNKNOWN_ID }));
    const plain = await send(endpoint, { key: await freshKey(), raw: good });
    const inner = good.slice(1, -1);
    const key = await freshKey();
    await all(additions, async (addition) => {
      const raw = `{${[addition, inner].filter(Boolean).join(",")}}`;
      const answer = await send(endpoint, { key, raw });
      expectDocumented(endpoint, answer);
      expect(answer.status).toBe(plain.status);
    });
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("answers as documented to odd values in every field", async () => {
    const good = goodBody(endpoint, { id: UNKNOWN_ID });
    const names = fieldsOf(endpoint.body);
    const key = await freshKey();
    await all(wrongKinds, async (value) => {
      const json = Object.fromEntries(names.map((name) => [name, value]));
      expectDocumented(endpoint, await send(endpoint, { key, json }));
    });
    await all(names, async (name) => {
      const key = await freshKey();
      await all(oddTexts, async (text) => {
        const json = { ...good, [name]: text };
        expectDocumented(endpoint, await send(endpoint, { key, json }));
      });
    });
  });
});

describe.each(endpoints)("$name", (endpoint) => {
  const json = goodBody(endpoint, { id: UNKNOWN_ID });

  test("answers 400 to NUL in the query", async () => {
    const key = await freshKey();
    await all(badQueries, async (query) => {
      const answer = await send(endpoint, { key, query, json });
      expectRefusal(answer, 400, "validation_failed");
      expectDocumented(endpoint, answer);
    });
  });

  test("answers as documented to an odd query", async () => {
    const key = await freshKey();
    await all(oddQueries, async (query) => {
      const answer = await send(endpoint, { key, query, json });
      expectDocumented(endpoint, answer);
      expectUsedPaging(answer.body);
    });
  });

  test("answers as documented to odd headers", async () => {
    const key = await freshKey();
    await all(oddHeaders, async (headers) => {
      const answer = await send(endpoint, { key, json, headers });
      expectDocumented(endpoint, answer);
      const sent = headers["X-Request-Id"];
      const id = answer.headers.get("x-request-id");
      if (sent && /^[\w.~-]{1,128}$/.test(sent)) expect(id).toBe(sent);
      else expect(id).toMatch(/^req_[0-9A-HJKMNP-TV-Z]{26}$/);
    });
  });
});

describe.each(endpoints.filter(({ query }) => query))("$name", (endpoint) => {
  test("answers as documented to odd values of its own parameters", async () => {
    await all(fieldsOf(endpoint.query), async (name) => {
      const key = await freshKey();
      const queries = oddValues.map((value) => `${name}=${value}`);
      await all([...queries, `${name}=1&${name}=2`], async (query) => {
        expectDocumented(endpoint, await send(endpoint, { key, query }));
      });
    });
  });
});

describe.each(withId)("$name", (endpoint) => {
  test("answers 400 to NUL in its path and 404 to any other text that is no id", async () => {
    const key = await freshKey();
    const json = goodBody(endpoint, { id: UNKNOWN_ID });
    const nul = await send(endpoint, { key, id: "a%00b", json });
    expectRefusal(nul, 400, "validation_failed");
    expectDocumented(endpoint, nul);
    await all(oddIds, async (id) => {
      const body = goodBody(endpoint, { id: decoded(id) });
      const answer = await send(endpoint, { key, id, json: body });
      expect([id, answer.status]).toEqual([id, 404]);
      expectDocumented(endpoint, answer);
    });
  });
});

test("text that is no body is nothing to endpoints that take none", async () => {
  const key = await freshKey();
  for (const endpoint of endpoints.filter(({ method, body }) => method !== "GET" && !body)) {
    for (const sent of [{ raw: "{" }, { raw: deep("[", "]"), contentType: "text/plain" }]) {
      const answer = await send(endpoint, { key, ...sent });
      expect(answer.status).toBe(404);
      expectDocumented(endpoint, answer);
    }
  }
});

/** Wherever a list says what paging it used, it is within bounds. */
function expectUsedPaging(body: { meta?: unknown; data?: { meta?: unknown } }): void {
  const meta = (body.meta ?? body.data?.meta) as { page?: number; pageSize?: number } | undefined;
  if (meta?.pageSize === undefined) return;
  expect(meta.page).toBeGreaterThanOrEqual(1);
  expect(meta.pageSize).toBeGreaterThanOrEqual(1);
  expect(meta.pageSize).toBeLessThanOrEqual(1_000);
}

function fieldsOf(schema: z.ZodType | undefined): string[] {
  if (!schema) return [];
  const { properties } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return Object.keys(properties ?? {});
}

/** All at once: the cases do not know of each other. */
async function all<T>(cases: readonly T[], check: (one: T) => Promise<void>): Promise<void> {
  await Promise.all(cases.map(check));
}

function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}
