import type { GateKey } from "./gate-types.ts";
import { WINDOW_MS, type Window } from "./window.ts";

export type Mark = { token: string; keyId: string; version: number; since: number };
export type GateOrganization = { id: string; routingTag: string; closed: boolean };

/** Deleting rows one by one would double the writes of every request. */
const PRUNE_AFTER_HITS = 100;

/**
 * The gate's state: read once into memory, written through to the object's SQLite, so that it
 * outlives idling, eviction and deploys. One request is one inserted row.
 */
export function gateStore(sql: SqlStorage) {
  createTables(sql);
  // An object that idles between requests never lives for as many hits as the pruning waits for.
  sql.exec("DELETE FROM hits WHERE at <= (SELECT max(at) FROM hits) - ?", WINDOW_MS);
  const memory = load(sql);
  let hitsSincePrune = 0;

  return {
    organization: (): GateOrganization | null => memory.organization,
    /** Closed stays closed: an answer of Postgres can be older than the one before it. */
    setOrganization(found: GateOrganization) {
      const organization = { ...found, closed: found.closed || !!memory.organization?.closed };
      memory.organization = organization;
      write(sql, "organization", organization);
    },
    byHash: (hash: string): GateKey | undefined => memory.byHash.get(hash),
    byId: (id: string): GateKey | undefined => memory.byId.get(id),
    /** Ignored unless it is newer than what is stored. Revoked stays revoked. */
    put(key: GateKey) {
      const known = memory.byId.get(key.id);
      if (known && (known.version >= key.version || known.status === "revoked")) return;
      if (known) memory.byHash.delete(known.hash);
      memory.byId.set(key.id, key);
      memory.byHash.set(key.hash, key);
      sql.exec(
        "INSERT OR REPLACE INTO keys (id, state) VALUES (?, ?)",
        key.id,
        JSON.stringify(key),
      );
    },
    marks: (): Mark[] => [...memory.marks.values()],
    mark(mark: Mark) {
      memory.marks.set(mark.token, mark);
      sql.exec("INSERT INTO marks (token, state) VALUES (?, ?)", mark.token, JSON.stringify(mark));
    },
    unmark(token: string) {
      if (memory.marks.delete(token)) sql.exec("DELETE FROM marks WHERE token = ?", token);
    },
    windows(keyId: string): { key: Window; organization: Window } {
      return { key: windowOf(memory.windows, keyId), organization: memory.organizationWindow };
    },
    latestHit: (): number => memory.organizationWindow.at(-1) ?? 0,
    recordHit(keyId: string, at: number) {
      sql.exec("INSERT INTO hits (key_id, at) VALUES (?, ?)", keyId, at);
      hitsSincePrune += 1;
      if (hitsSincePrune < PRUNE_AFTER_HITS) return;
      hitsSincePrune = 0;
      sql.exec("DELETE FROM hits WHERE at <= ?", at - WINDOW_MS);
    },
  };
}

function createTables(sql: SqlStorage): void {
  sql.exec(`
    CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, state TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS keys (id TEXT PRIMARY KEY, state TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS marks (token TEXT PRIMARY KEY, state TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS hits (key_id TEXT NOT NULL, at INTEGER NOT NULL);
  `);
}

function load(sql: SqlStorage) {
  const states = <T>(table: "keys" | "marks") =>
    sql
      .exec<{ state: string }>(`SELECT state FROM ${table}`)
      .toArray()
      .map((row) => JSON.parse(row.state) as T);
  const keys = states<GateKey>("keys");
  const windows = new Map<string, Window>();
  const organizationWindow: Window = [];
  for (const hit of sql.exec<{ key_id: string; at: number }>("SELECT * FROM hits ORDER BY at")) {
    windowOf(windows, hit.key_id).push(hit.at);
    organizationWindow.push(hit.at);
  }
  return {
    organization: read<GateOrganization>(sql, "organization"),
    byId: new Map(keys.map((key) => [key.id, key])),
    byHash: new Map(keys.map((key) => [key.hash, key])),
    marks: new Map(states<Mark>("marks").map((mark) => [mark.token, mark])),
    windows,
    organizationWindow,
  };
}

function windowOf(windows: Map<string, Window>, keyId: string): Window {
  let window = windows.get(keyId);
  if (!window) {
    window = [];
    windows.set(keyId, window);
  }
  return window;
}

function read<T>(sql: SqlStorage, name: string): T | null {
  const [row] = sql.exec<{ state: string }>("SELECT state FROM facts WHERE name = ?", name);
  return row ? (JSON.parse(row.state) as T) : null;
}

function write(sql: SqlStorage, name: string, state: unknown): void {
  sql.exec("INSERT OR REPLACE INTO facts (name, state) VALUES (?, ?)", name, JSON.stringify(state));
}
