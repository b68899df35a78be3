import path from "node:path";
import { DatabaseSync } from "node:sqlite";

/**
 * One stack for each state folder. The lock is the operating system's, held through SQLite: it is
 * gone with the process that holds it, and no other process can be mistaken for that one.
 */
export function lock(stateDir: string): () => void {
  const database = new DatabaseSync(path.join(stateDir, "lock.sqlite"));
  try {
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (!String(error).includes("locked")) throw error;
    throw new Error(`Another stack runs on ${stateDir}; stop it, or choose another --state`);
  }
  return () => database.close();
}
