import { exports } from "cloudflare:workers";
import { expect, test } from "vitest";
import { request } from "../../support/worker/client.ts";
import { queueSignature } from "../../support/worker/queue.ts";
import { newCustomer } from "../../support/worker/webhooks.ts";

const PATH = "/internal/q/deliver-webhook";

async function message() {
  const customer = await newCustomer();
  const { due } = await customer.happened();
  const [row] = due;
  const body = JSON.stringify({ org: customer.organizationId, id: row?.id, gen: row?.gen });
  return { customer, body };
}

function post(body: string | undefined, signature?: string, path = PATH) {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (signature !== undefined) headers["Upstash-Signature"] = signature;
  return request("POST", path, { headers, ...(body === undefined ? {} : { body }) });
}

const base64url = (value: unknown) =>
  btoa(JSON.stringify(value)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

test("a token for this URL and this body is taken, and replayed it does nothing more", async () => {
  const { customer, body } = await message();
  const signature = await queueSignature(PATH, body);
  expect((await post(body, signature)).status).toBe(200);
  expect((await post(body, signature)).status).toBe(200);
  expect(await customer.inbox.received()).toHaveLength(1);
});

const DEVELOPMENT_KEY = "sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r";
const seconds = Math.floor(Date.now() / 1_000);

const forgeries: [what: string, (body: string) => Promise<string> | string][] = [
  ["a token for another URL", (body) => queueSignature("/internal/q/sweep", body)],
  ["a token for another body", (body) => queueSignature(PATH, `${body} `)],
  [
    "a token without a subject",
    (body) => queueSignature(PATH, body, { claims: { sub: undefined } }),
  ],
  [
    "a token that never expires",
    (body) => queueSignature(PATH, body, { claims: { exp: undefined } }),
  ],
  ["an expired token", (body) => queueSignature(PATH, body, { claims: { exp: seconds - 60 } })],
  ["a token of another issuer", (body) => queueSignature(PATH, body, { claims: { iss: "Other" } })],
  [
    "a token signed with HS512",
    (body) => queueSignature(PATH, body, { header: { alg: "HS512" }, hash: "SHA-512" }),
  ],
  [
    "a token of the public development key",
    (body) => queueSignature(PATH, body, { key: DEVELOPMENT_KEY }),
  ],
  ["a token of another key", (body) => queueSignature(PATH, body, { key: "sig_other" })],
  [
    "an unsigned token",
    async (body) => {
      const [, claims] = (await queueSignature(PATH, body)).split(".");
      return `${base64url({ alg: "none", typ: "JWT" })}.${claims}.`;
    },
  ],
  ["no token at all", () => ""],
];

test.each(forgeries)("%s is refused", async (_, forge) => {
  const { customer, body } = await message();
  const answer = await post(body, await forge(body));
  expect([answer.status, answer.body.error.code]).toEqual([401, "invalid_api_key"]);
  expect(await customer.inbox.received()).toHaveLength(0);
});

test("a body longer than any message is refused, though it were signed", async () => {
  const { customer, body } = await message();
  const long = body.padEnd(5_000);
  const answer = await post(long, await queueSignature(PATH, long));
  expect(answer.status).toBe(401);
  expect(await customer.inbox.received()).toHaveLength(0);
});

test("without a signature the body is not read: it may be endless", async () => {
  let read = 0;
  const body = new ReadableStream<Uint8Array>(
    { pull: (controller) => controller.enqueue(new Uint8Array(++read)) },
    { highWaterMark: 0 },
  );
  const answer = await exports.default.fetch(`http://service.test${PATH}`, {
    method: "POST",
    body,
  });
  // The platform itself takes a first piece.
  expect([answer.status, read < 5]).toEqual([401, true]);
});
