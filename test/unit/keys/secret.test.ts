import fc from "fast-check";
import { expect, test } from "vitest";
import {
  newPublicKey,
  newRoutingTag,
  newSecret,
  readSecret,
} from "../../../src/resources/keys/secret.ts";

const CHECK = "a check secret of the service, long enough";

test("a secret leads to its organization and its own hash", async () => {
  const tag = newRoutingTag();
  const secret = await newSecret(tag, CHECK);
  expect(secret.text).toMatch(/^sk_live_[0-9A-Za-z]{49}$/);
  expect(secret.last4).toBe(secret.text.slice(-4));
  expect(await readSecret(secret.text, CHECK)).toEqual({ routingTag: tag, hash: secret.hash });
});

test("no two secrets are alike", async () => {
  const tag = newRoutingTag();
  const secrets = await Promise.all(Array.from({ length: 200 }, () => newSecret(tag, CHECK)));
  expect(new Set(secrets.map(({ text }) => text.slice(18, 51))).size).toBe(200);
});

test("a public key is never taken for a secret", async () => {
  const publicKey = await newPublicKey(newRoutingTag(), CHECK);
  expect(publicKey).toMatch(/^pk_live_/);
  expect(await readSecret(publicKey, CHECK)).toBeNull();
  expect(await readSecret(publicKey.replace("pk", "sk"), CHECK)).toBeNull();
});

test("a secret with any character changed is none of ours", async () => {
  const { text } = await newSecret(newRoutingTag(), CHECK);
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: text.length - 1 }),
      fc.constantFrom(..."abcXYZ019_é\n"),
      async (position, character) => {
        fc.pre(text[position] !== character);
        const forged = text.slice(0, position) + character + text.slice(position + 1);
        expect(await readSecret(forged, CHECK)).toBeNull();
      },
    ),
  );
  for (const forged of [`${text}\n`, ` ${text}`, `${text}a`, text.slice(1)]) {
    expect(await readSecret(forged, CHECK)).toBeNull();
  }
});

test("another service's secret is none of ours", async () => {
  const { text } = await newSecret(newRoutingTag(), "somebody else's check secret");
  expect(await readSecret(text, CHECK)).toBeNull();
});
