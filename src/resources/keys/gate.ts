import { DurableObject } from "cloudflare:workers";
import { decide } from "./admit.ts";
import { gateStore } from "./gate-store.ts";
import type { Admission, ChangeMark, GateKey, Knock } from "./gate-types.ts";

export type GateFill = { organizationId: string; closed: boolean; keys: GateKey[] };

/** What the gate asks of Postgres, which alone is the record. */
export type GateRecords = {
  /** All keys of the organization behind a tag; null when there is none. */
  fill(routingTag: string): Promise<GateFill | null>;
  /** The keys with these ids, and the one with this hash. */
  read(organizationId: string, ids: string[], hash: string): Promise<GateKey[]>;
};

/** A commit that has not been answered within this time can no longer happen. */
const CHANGE_IS_OVER_MS = 60_000;

/**
 * The authority on the keys and rate windows of one organization; it is named by the routing tag.
 * It decides on what it has stored. While a key is being changed it asks Postgres instead, so no
 * crash between commit and `finishChange` leaves a dead key alive. A stored state is replaced only
 * by one of a higher version, and a change is committed only over the version that its mark names.
 */
export abstract class KeyGateObject<Env> extends DurableObject<Env> {
  readonly #records: GateRecords;
  readonly #store: ReturnType<typeof gateStore>;
  #lastNow = 0;
  #filling: Promise<void> | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#records = this.wire(env);
    this.#store = gateStore(ctx.storage.sql);
  }

  /** Called once, by the constructor: `index.ts` gives the object its parts. */
  protected abstract wire(env: Env): GateRecords;

  async admit(knock: Knock): Promise<Admission> {
    const organization = await this.#organization();
    if (!organization) return { admitted: false, code: "invalid_api_key", rates: null };
    const marks = this.#store.marks();
    const known = this.#store.byHash(knock.hash);
    const uncertain = known ? marks.some((m) => m.keyId === known.id) : marks.length > 0;
    if (uncertain) await this.#readThrough(organization.id, knock.hash);
    const key = uncertain ? this.#store.byHash(knock.hash) : known;
    const now = this.#now();
    const { code, rates } = decide({
      key,
      address: knock.address,
      closed: organization.closed,
      windows: this.#store.windows(key?.id ?? ""),
      now,
      lag: now - Date.now(),
    });
    if (code !== null || !key || !rates) {
      return { admitted: false, code: code ?? "invalid_api_key", rates };
    }
    this.#store.recordHit(key.id, now);
    return {
      admitted: true,
      organizationId: organization.id,
      routingTag: organization.routingTag,
      keyId: key.id,
      scopes: key.scopes,
      rates,
    };
  }

  async beginChange(keyId: string): Promise<ChangeMark> {
    const organization = await this.#organization();
    if (organization && this.#store.marks().some((m) => m.keyId === keyId)) {
      await this.#readThrough(organization.id, "");
    }
    const version = this.#store.byId(keyId)?.version ?? 0;
    const token = crypto.randomUUID();
    this.#store.mark({ token, keyId, version, since: this.#now() });
    return { token, version };
  }

  finishChange(token: string, key: GateKey): void {
    this.#store.put(key);
    this.#store.unmark(token);
  }

  refill(): Promise<void> {
    return this.#fill();
  }

  /** Filled once, by the first request of the organization's life with this gate. */
  async #organization() {
    if (!this.#store.organization()) {
      this.#filling ??= this.#fill().finally(() => {
        this.#filling = null;
      });
      await this.#filling;
    }
    return this.#store.organization();
  }

  async #fill(): Promise<void> {
    const routingTag = this.ctx.id.name;
    const fill = routingTag ? await this.#records.fill(routingTag) : null;
    if (!fill || !routingTag) return;
    for (const key of fill.keys) this.#store.put(key);
    this.#store.setOrganization({ id: fill.organizationId, routingTag, closed: fill.closed });
  }

  /** Takes over what Postgres says, and drops the marks whose end it shows. */
  async #readThrough(organizationId: string, hash: string): Promise<void> {
    const marks = this.#store.marks();
    const ids = [...new Set(marks.map((mark) => mark.keyId))];
    const asked = this.#now();
    const keys = await this.#records.read(organizationId, ids, hash);
    for (const key of keys) this.#store.put(key);
    for (const mark of marks) {
      const version = this.#store.byId(mark.keyId)?.version ?? 0;
      if (version > mark.version || asked - mark.since > CHANGE_IS_OVER_MS) {
        this.#store.unmark(mark.token);
      }
    }
  }

  /** Never earlier than before, also when the object moved to a machine whose clock is behind. */
  #now(): number {
    this.#lastNow = Math.max(this.#lastNow, this.#store.latestHit(), Date.now());
    return this.#lastNow;
  }
}
