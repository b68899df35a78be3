/** Each benchmark is `test/bench/<name>.ts`; none of them is part of the tests. */
const benches: Record<string, { what: string; load(): Promise<{ run(): Promise<void> }> }> = {
  api: {
    what: "throughput of ordinary GETs, against a bare Hono route with the same two hops",
    load: () => import("../test/bench/api.ts"),
  },
  calls: {
    what: "fifty spoken calls at once: all end, all transcripts right, and what a frame costs",
    load: () => import("../test/bench/calls.ts"),
  },
  voice: {
    what: "the voice engine beside agents/voice from npm: latency, interruptions, cost of a call",
    load: () => import("../test/bench/voice.ts"),
  },
  history: {
    what: "pages of a webhook history of a million records",
    load: () => import("../test/bench/history.ts"),
  },
};

const [name = ""] = process.argv.slice(2);
const bench = Object.hasOwn(benches, name) ? benches[name] : undefined;
if (bench) {
  await (await bench.load()).run();
} else {
  const lines = Object.entries(benches).map(([key, { what }]) => `  ${key.padEnd(8)} ${what}`);
  console.error(`Usage: npm run bench -- <name>\n${lines.join("\n")}`);
  process.exitCode = 2;
}

export {};
