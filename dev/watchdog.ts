import { spawn } from "node:child_process";

/**
 * Signals `target` (a process id; negative: a process group) when this process dies without ending
 * it, even by kill -9: a shell reads from a pipe that only we hold open. Returns what calls it off.
 */
export function watchOver(
  target: number,
  options: { signal: "QUIT" | "KILL" | "TERM"; uid?: number; gid?: number },
): () => void {
  const { signal, ...account } = options;
  const script = 'read _; kill -s "$0" -- "$1"';
  const watchdog = spawn("/bin/sh", ["-c", script, signal, String(target)], {
    ...account,
    cwd: "/",
    // Its own group: what ends ours, Ctrl-C or a kill, must not end the watchdog before us.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  return () => {
    watchdog.kill("SIGKILL");
  };
}
