import { toHex } from "../../encoding.ts";
import { randomBase62 } from "../../ids.ts";

const TAG_LENGTH = 10;
/** 33 base62 characters are 196 bits: nobody guesses them, so a plain SHA-256 is enough to store. */
const RANDOM_LENGTH = 33;
const CHECK_LENGTH = 6;
const SHAPE = /^(sk|pk)_live_([0-9A-Za-z]{10})([0-9A-Za-z]{33})([0-9A-Za-z]{6})$/;

export type Secret = { text: string; hash: string; last4: string };

/** Ten characters that lead from a secret to its organization's gate, without a look-up. */
export function newRoutingTag(): string {
  return randomBase62(TAG_LENGTH);
}

export async function newSecret(routingTag: string, checkSecret: string): Promise<Secret> {
  const text = await mint("sk", routingTag, checkSecret);
  return { text, hash: await hashOf(text), last4: text.slice(-4) };
}

/** Identifies a key to browsers; grants nothing by itself. */
export function newPublicKey(routingTag: string, checkSecret: string): Promise<string> {
  return mint("pk", routingTag, checkSecret);
}

/**
 * What a presented secret says of itself, or null when it is not one of ours. The keyed check makes
 * a forged one cost one HMAC: it never reaches a gate or the database.
 */
export async function readSecret(
  text: string,
  checkSecret: string,
): Promise<{ routingTag: string; hash: string } | null> {
  const [, kind, routingTag = "", random = "", check = ""] = SHAPE.exec(text) ?? [];
  if (kind !== "sk") return null;
  const expected = await checkOf(`sk_live_${routingTag}${random}`, checkSecret);
  if (!equalInConstantTime(check, expected)) return null;
  return { routingTag, hash: await hashOf(text) };
}

async function mint(kind: "sk" | "pk", routingTag: string, checkSecret: string): Promise<string> {
  const body = `${kind}_live_${routingTag}${randomBase62(RANDOM_LENGTH)}`;
  return body + (await checkOf(body, checkSecret));
}

async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return toHex(new Uint8Array(digest));
}

/** Six base62 characters of an HMAC: about 35 bits, enough to turn garbage away. */
async function checkOf(body: string, checkSecret: string): Promise<string> {
  const mac = await crypto.subtle.sign("HMAC", await keyOf(checkSecret), encode(body));
  let number = new DataView(mac).getBigUint64(0);
  let check = "";
  for (let i = 0; i < CHECK_LENGTH; i++) {
    check += BASE62.charAt(Number(number % 62n));
    number /= 62n;
  }
  return check;
}

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const encode = (text: string) => new TextEncoder().encode(text);

const imported = new Map<string, Promise<CryptoKey>>();

/** Imported once for each isolate: importing costs as much as signing. */
function keyOf(checkSecret: string): Promise<CryptoKey> {
  let key = imported.get(checkSecret);
  if (!key) {
    key = crypto.subtle.importKey(
      "raw",
      encode(checkSecret),
      { name: "HMAC", hash: "SHA-256" },
      false,
      ["sign"],
    );
    imported.set(checkSecret, key);
  }
  return key;
}

function equalInConstantTime(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < b.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}
