import { Webhook } from "standardwebhooks";
import { expect, test, vi } from "vitest";
import { verifyWebhook, WebhookVerificationError } from "../../../src/client.ts";
import { newWebhookSecret } from "../../../src/resources/webhooks/secret.ts";
import { signatureHeaders } from "../../../src/resources/webhooks/sign.ts";

const body = JSON.stringify({ id: "evt_1", type: "call.completed", z: 1, "10": "नमस्ते 🦜" });
const [secret, before, other] = [newWebhookSecret(), newWebhookSecret(), newWebhookSecret()];
const sign = (now = Date.now()) => signatureHeaders([secret, before], { id: "evt_1", body }, now);

test("a delivery is verified by each valid secret, here and by the standard's own library", async () => {
  const headers = await sign();
  for (const valid of [secret, before]) {
    expect(await verifyWebhook(body, headers, valid)).toEqual(JSON.parse(body));
    expect(await verifyWebhook(body, new Headers(headers), valid)).toEqual(JSON.parse(body));
    expect(new Webhook(valid).verify(body, headers)).toEqual(JSON.parse(body));
  }
});

test("the service's own header carries the same signatures in hex", async () => {
  const headers = await sign();
  const own = headers["X-Service-Signature"]?.split(",") ?? [];
  const standard = headers["webhook-signature"]?.split(" ") ?? [];
  expect(own[0]).toBe(`t=${headers["webhook-timestamp"]}`);
  expect(own.slice(1)).toEqual(
    standard.map((part) => `v1=${Buffer.from(part.slice(3), "base64").toString("hex")}`),
  );
});

test("names of headers may be written in any case, and values be lists, as servers hand them over", async () => {
  const headers = Object.fromEntries(
    Object.entries(await sign()).map(([name, value]) => [name.toUpperCase(), [value]]),
  );
  expect(await verifyWebhook(body, headers, secret)).toEqual(JSON.parse(body));
});

test("anything altered, missing, foreign or old is refused", async () => {
  const headers = await sign();
  const signature = headers["webhook-signature"] ?? "";
  const refused: [string, Record<string, string>, string][] = [
    [`${body} `, headers, secret],
    [body, headers, other],
    [body, { ...headers, "webhook-id": "evt_2" }, secret],
    [
      body,
      { ...headers, "webhook-timestamp": String(Number(headers["webhook-timestamp"]) + 1) },
      secret,
    ],
    [body, { ...headers, "webhook-timestamp": "now" }, secret],
    [body, { ...headers, "webhook-signature": signature.replaceAll("v1,", "v2,") }, secret],
    [body, { ...headers, "webhook-signature": "v1,%%% v1, v1" }, secret],
    [body, {}, secret],
    [body, await sign(Date.now() - 301_000), secret],
    [body, await sign(Date.now() + 302_000), secret],
  ];
  for (const [text, sent, with_] of refused) {
    await expect(verifyWebhook(text, sent, with_)).rejects.toThrow(WebhookVerificationError);
  }
});

test("each signature is made for its moment", async () => {
  vi.useFakeTimers({ now: 1_800_000_000_000 });
  const first = await sign();
  const second = await sign(Date.now() + 5_000);
  expect(first["webhook-signature"]).not.toBe(second["webhook-signature"]);
  expect(await verifyWebhook(body, second, secret)).toEqual(JSON.parse(body));
  vi.useRealTimers();
});
