import { connect } from "../src/db/connect.ts";
import { system } from "../src/db/system.ts";
import { tenant } from "../src/db/tenant.ts";
import { vault } from "../src/vault.ts";

/** The operator's doors, from the same variables that the Worker has. */
export function operatorFrom(variables: Record<string, string | undefined>) {
  const need = (name: string) => {
    const value = variables[name];
    if (!value) throw new Error(`${name} is not set; .dev.vars.example explains it`);
    return value;
  };
  const db = connect({ url: need("DATABASE_URL"), endpoint: variables["NEON_ENDPOINT"] });
  return {
    system: system(db),
    tenant: (organizationId: string) => tenant(db, organizationId),
    vault: vault(need("VAULT_KEYS")),
    keyCheckSecret: need("KEY_CHECK_SECRET"),
    now: Date.now(),
  };
}
