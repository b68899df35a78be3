import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

type Process = { pid: number; parent: number; isZombie: boolean };

/** The process and all that descend from it, however they are grouped. */
export function familyOf(pid: number): number[] {
  const all = processes();
  const family = [pid];
  // Grows while it is walked: children are appended, and their children after them.
  for (const member of family) {
    family.push(...all.filter(({ parent }) => parent === member).map((child) => child.pid));
  }
  return family;
}

/** Which of them still run; one that ended and was not yet collected by its parent does not. */
export function running(pids: number[]): number[] {
  return processes()
    .filter(({ pid, isZombie }) => !isZombie && pids.includes(pid))
    .map(({ pid }) => pid);
}

function processes(): Process[] {
  return process.platform === "linux" ? fromProc() : fromPs();
}

function fromProc(): Process[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = readOrNothing(`/proc/${name}/stat`);
      // The second field is the program's name in brackets, which may hold anything.
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return stat ? [{ pid: Number(name), parent: Number(parent), isZombie: state === "Z" }] : [];
    });
}

function fromPs(): Process[] {
  const listed = execFileSync("ps", ["-A", "-o", "pid=,ppid=,state="], { encoding: "utf8" });
  return listed
    .trim()
    .split("\n")
    .map((line) => {
      const [pid, parent, state = ""] = line.trim().split(/\s+/);
      return { pid: Number(pid), parent: Number(parent), isZombie: state.startsWith("Z") };
    });
}

/** Linux: the addresses on which these processes listen, in the kernel's hexadecimal. */
export function listeningAddresses(pids: number[]): string[] {
  const inodes = new Set(pids.flatMap(socketInodes));
  return ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) =>
    readOrNothing(file)
      .split("\n")
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[3] === "0A" && inodes.has(fields[9] ?? ""))
      .map((fields) => fields[1]?.split(":")[0] ?? ""),
  );
}

function socketInodes(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
    } catch {
      return []; // closed meanwhile
    }
  });
}

function readOrNothing(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
