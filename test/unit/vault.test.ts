import { expect, test } from "vitest";
import { vault } from "../../src/vault.ts";

const K1 = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
const K2 = "__________________________________________8";
const configured = (primary: string, keys: Record<string, string>) =>
  JSON.stringify({ primary, keys });
const old = vault(configured("k1", { k1: K1 }));

test("what was sealed opens for the same organization and row", async () => {
  for (const plain of ["whsec_secret", "", "ünï ☎️"]) {
    const sealed = await old.seal("org_a", "key_1", plain);
    expect(await old.open("org_a", "key_1", sealed)).toBe(plain);
  }
});

test("the same text is sealed differently each time, and is not to be read", async () => {
  const [one, two] = await Promise.all([1, 2].map(() => old.seal("org_a", "key_1", "secret")));
  expect(one).not.toBe(two);
  expect(atob(one?.split(".")[3] ?? "")).not.toContain("secret");
});

test("nothing opens for another organization, another row, or altered", async () => {
  const sealed = await old.seal("org_a", "key_1", "secret");
  await expect(old.open("org_b", "key_1", sealed)).rejects.toThrow();
  await expect(old.open("org_a", "key_2", sealed)).rejects.toThrow();
  const [version, id, iv = "", text = ""] = sealed.split(".");
  const altered = (text.startsWith("A") ? "B" : "A") + text.slice(1);
  await expect(old.open("org_a", "key_1", [version, id, iv, altered].join("."))).rejects.toThrow();
  await expect(old.open("org_a", "key_1", ["v2", id, iv, text].join("."))).rejects.toThrow();
  await expect(old.open("org_a", "key_1", "garbage")).rejects.toThrow();
});

test("after a new primary key old texts still open, and new ones are sealed with it", async () => {
  const both = vault(configured("k2", { k1: K1, k2: K2 }));
  const sealed = await old.seal("org_a", "key_1", "secret");
  expect(await both.open("org_a", "key_1", sealed)).toBe("secret");
  const resealed = await both.seal("org_a", "key_1", "secret");
  expect(resealed).toMatch(/^v1\.k2\./);
  await expect(old.open("org_a", "key_1", resealed)).rejects.toThrow("not configured");
});

test("a sealed text cannot be relabelled to another key", async () => {
  const same = vault(configured("k1", { k1: K1, k2: K1 }));
  const sealed = await same.seal("org_a", "key_1", "secret");
  await expect(same.open("org_a", "key_1", sealed.replace("v1.k1.", "v1.k2."))).rejects.toThrow();
});

test.each([
  ["no JSON", "k1"],
  ["a primary key that is missing", configured("k2", { k1: K1 })],
  ["a primary key that only every object has", configured("toString", { k1: K1 })],
  ["a key of 16 bytes", configured("k1", { k1: "AAAAAAAAAAAAAAAAAAAAAA==" })],
  ["a key that is no base64", configured("k1", { k1: "!".repeat(44) })],
  ["an id with a dot", configured("k.1", { "k.1": K1 })],
])("%s is refused at the start", (_what, text) => {
  expect(() => vault(text)).toThrow();
});
