import * as z from "zod";
import { fromBase64, toBase64 } from "./encoding.ts";

/** A dot in a key's id would be read as the end of it in a sealed text. */
const VaultKeys = z
  .object({
    primary: z.string(),
    keys: z.record(
      z.string().regex(/^[\w-]+$/),
      z.string().regex(/^[\w+/-]{43}=?$/, "a key is 32 bytes in base64"),
    ),
  })
  .transform(({ primary, keys }) => ({ primary, keys: new Map(Object.entries(keys)) }))
  .refine(({ primary, keys }) => keys.has(primary), "the primary key is not among the keys");

/** Seals small secrets for one organization and one row; nothing else can open them. */
export type Vault = {
  seal(organizationId: string, row: string, plain: string): Promise<string>;
  /** Throws when the text was altered, or belongs to another organization or row. */
  open(organizationId: string, row: string, sealed: string): Promise<string>;
};

/**
 * AES-256-GCM under a key derived for each organization. The key's id and the row are bound in as
 * additional data, so a sealed text cannot be moved; a new primary key re-seals as rows are written.
 */
export function vault(vaultKeys: string): Vault {
  const { primary, keys } = VaultKeys.parse(JSON.parse(vaultKeys));
  const derived = new Map<string, Promise<CryptoKey>>();

  function keyOf(keyId: string, organizationId: string): Promise<CryptoKey> {
    const name = `${keyId} ${organizationId}`;
    const known = derived.get(name);
    if (known !== undefined) return known;
    const raw = keys.get(keyId);
    if (raw === undefined)
      throw new Error("A sealed text names a vault key that is not configured");
    const key = derive(raw, organizationId);
    // Few organizations are active in one isolate; the bound is for the isolate that lives for weeks.
    if (derived.size > 1_000) derived.clear();
    derived.set(name, key);
    return key;
  }

  return {
    async seal(organizationId, row, plain) {
      const iv = crypto.getRandomValues(new Uint8Array(12));
      const sealed = await crypto.subtle.encrypt(
        { name: "AES-GCM", iv, additionalData: encode(`v1|${primary}|${organizationId}|${row}`) },
        await keyOf(primary, organizationId),
        encode(plain),
      );
      return `v1.${primary}.${toBase64(iv)}.${toBase64(new Uint8Array(sealed))}`;
    },
    async open(organizationId, row, sealed) {
      const [version, keyId = "", iv = "", text = ""] = sealed.split(".");
      if (version !== "v1") throw new Error("A sealed text has an unknown version");
      const plain = await crypto.subtle.decrypt(
        {
          name: "AES-GCM",
          iv: fromBase64(iv),
          additionalData: encode(`v1|${keyId}|${organizationId}|${row}`),
        },
        await keyOf(keyId, organizationId),
        fromBase64(text),
      );
      return new TextDecoder().decode(plain);
    },
  };
}

async function derive(raw: string, organizationId: string): Promise<CryptoKey> {
  const base = await crypto.subtle.importKey("raw", fromBase64(raw), "HKDF", false, ["deriveKey"]);
  return crypto.subtle.deriveKey(
    { name: "HKDF", hash: "SHA-256", salt: encode("vault/v1"), info: encode(organizationId) },
    base,
    { name: "AES-GCM", length: 256 },
    false,
    ["encrypt", "decrypt"],
  );
}

const encode = (text: string) => new TextEncoder().encode(text);
