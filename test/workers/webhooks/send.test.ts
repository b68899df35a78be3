import { expect, test } from "vitest";
import { resolvesToPublic } from "../../../src/resources/webhooks/resolve.ts";
import { send } from "../../../src/resources/webhooks/send.ts";
import { worldUrl } from "../../support/worker/client.ts";
import { newInbox, type Scripted } from "../../support/worker/webhooks.ts";

const options = { webhookDnsUrl: null, webhookDevOrigins: [] };

async function attempt(...answers: Scripted[]) {
  const inbox = newInbox();
  await inbox.answers(...answers);
  const answer = await send(inbox.url, { headers: {}, body: "{}" }, options);
  return { answer, received: await inbox.received() };
}

test.each([301, 302, 303, 307, 308])("a %i is a failure, and not followed", async (status) => {
  const elsewhere = newInbox();
  for (const location of [elsewhere.url, "http://169.254.169.254/latest/meta-data/"]) {
    const { answer } = await attempt({ status, headers: { location } });
    expect(answer).toMatchObject({ status, error: null });
  }
  expect(await elsewhere.received()).toEqual([]);
});

test("of a long answer 64 KiB are kept", async () => {
  const { answer } = await attempt({ body: "x".repeat(10_000_000) });
  expect([answer.status, answer.body.length]).toEqual([200, 65_536]);
});

test("a connection that breaks is a failure without a status", async () => {
  const { answer } = await attempt({ mode: "reset" });
  expect(answer).toMatchObject({
    status: 0,
    body: "connection_failed",
    error: "connection_failed",
  });
});

test("an answer that is no text is kept as far as it is", async () => {
  const { answer } = await attempt({ body: "a\0b" });
  expect(answer.body).toBe("a\uFFFDb");
});

test("a receiver asks for patience in seconds or until a date", async () => {
  const asked = async (value: string) =>
    (await attempt({ status: 503, headers: { "retry-after": value } })).answer.retryAfterSeconds;
  expect(await asked("120")).toBe(120);
  const inAMinute = await asked(new Date(Date.now() + 60_000).toUTCString());
  expect(Math.abs((inAMinute ?? 0) - 60)).toBeLessThan(3);
  for (const nonsense of ["soon", "-5", "Thu, 01 Jan 1970 00:00:00 GMT"]) {
    expect(await asked(nonsense)).toBeNull();
  }
});

/** A DNS-over-HTTPS server that answers every question with these addresses. */
async function resolver(...addresses: string[]) {
  const inbox = newInbox();
  const body = JSON.stringify({
    Status: 0,
    Answer: addresses.map((data) => ({ type: data.includes(":") ? 28 : 1, data })),
  });
  await inbox.answers({ body }, { body });
  return inbox;
}

const resolve = async (...addresses: string[]) => {
  const { url } = await resolver(...addresses);
  return resolvesToPublic(url, "hooks.example.com", AbortSignal.timeout(5_000));
};

test("a name is public when it has addresses and every one of them is", async () => {
  expect(await resolve("8.8.8.8", "2606:4700::1111")).toBe(true);
  expect(await resolve("8.8.8.8", "10.0.0.1")).toBe(false);
  expect(await resolve("8.8.8.8", "::1")).toBe(false);
  expect(await resolve()).toBe(false);
});

test("with the operator's switch on, nothing is sent to a name that leads inside", async () => {
  const inbox = newInbox();
  const { url } = await resolver("169.254.169.254");
  const checked = { webhookDnsUrl: url, webhookDevOrigins: [] };
  const answer = await send(inbox.url, { headers: {}, body: "{}" }, checked);
  expect(answer).toMatchObject({ status: 0, error: "forbidden_address" });
  expect(await inbox.received()).toEqual([]);
});

test("with the switch on, nothing is sent when the name cannot be looked up", async () => {
  const inbox = newInbox();
  const dns = newInbox();
  await dns.answers({ status: 500 }, { status: 500 });
  const checked = { webhookDnsUrl: dns.url, webhookDevOrigins: [] };
  const answer = await send(inbox.url, { headers: {}, body: "{}" }, checked);
  expect(answer).toMatchObject({ status: 0, error: "connection_failed" });
  expect(await inbox.received()).toEqual([]);
});

test("the origins of development are exempt from the switch", async () => {
  const inbox = newInbox();
  const checked = { webhookDnsUrl: "http://127.0.0.1:1/", webhookDevOrigins: [worldUrl] };
  expect(await send(inbox.url, { headers: {}, body: "{}" }, checked)).toMatchObject({
    status: 200,
  });
});
