import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

export type Secrets = {
  keyCheckSecret: string;
  vaultKeys: string;
  qstashToken: string;
  qstashCurrentSigningKey: string;
  qstashNextSigningKey: string;
  redisToken: string;
};

/** The local stack's own secrets: made once for a state folder, so that keys outlive a restart. */
export function secretsOf(stateDir: string): Secrets {
  const file = path.join(stateDir, "secrets.json");
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as Secrets;
  const secrets = newSecrets();
  mkdirSync(stateDir, { recursive: true });
  writeFileSync(file, JSON.stringify(secrets, null, 2), { mode: 0o600 });
  return secrets;
}

export function newSecrets(): Secrets {
  const random = () => randomBytes(32).toString("base64");
  return {
    keyCheckSecret: random(),
    vaultKeys: JSON.stringify({ primary: "k1", keys: { k1: random() } }),
    qstashToken: random(),
    qstashCurrentSigningKey: `sig_${random()}`,
    qstashNextSigningKey: `sig_${random()}`,
    redisToken: random(),
  };
}
