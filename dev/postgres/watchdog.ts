import { spawn } from "node:child_process";
import type { Account } from "./account.ts";

/**
 * Ends the server `pid` at once when this process dies without stopping it, even by kill -9: the
 * shell reads from a pipe that only we hold open. Returns what calls it off.
 */
export function watchOver(pid: number, account: Account): () => void {
  const script = 'read _; kill -QUIT "$0"';
  const watchdog = spawn("/bin/sh", ["-c", script, String(pid)], {
    ...account,
    cwd: "/",
    // Its own group: Ctrl-C in a terminal must not end the watchdog before us.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  return () => {
    watchdog.kill("SIGKILL");
  };
}
