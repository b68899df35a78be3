import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

/**
 * Four kinds of tests, fastest first: pure logic in Node; the stand-ins against the vendors' own
 * clients; the Worker and its objects inside workerd, on a real Postgres; and the whole stack as
 * real processes, which are really killed.
 */
export default defineConfig({
  test: {
    silent: "passed-only",
    // Those with real processes mostly wait; one at a time leaves the cores idle.
    maxWorkers: 3,
    projects: [
      { test: { name: "unit", include: ["test/unit/**/*.test.ts"], isolate: false } },
      { test: { name: "dev", include: ["test/dev/**/*.test.ts"], testTimeout: 20_000 } },
      {
        plugins: [
          cloudflareTest(({ inject }) => ({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: { cf: false, bindings: inject("variables") },
          })),
        ],
        test: {
          name: "workers",
          include: ["test/workers/**/*.test.ts"],
          globalSetup: ["test/support/node/world-setup.ts"],
          isolate: false,
          testTimeout: 20_000,
          deps: {
            optimizer: {
              ssr: {
                enabled: true,
                include: [
                  "@hono/zod-validator",
                  "@neondatabase/serverless",
                  "@upstash/qstash",
                  "drizzle-orm",
                  "drizzle-orm/neon-http",
                  "drizzle-orm/pg-core",
                  "eventsource-parser",
                  "hono",
                  "hono/factory",
                  "hono/http-exception",
                  "hono/route",
                  "hono/utils/handler",
                  "ipaddr.js",
                  "zod",
                ],
              },
            },
          },
        },
      },
      {
        test: {
          name: "stack",
          include: ["test/stack/**/*.test.ts"],
          testTimeout: 90_000,
          hookTimeout: 90_000,
        },
      },
    ],
  },
});
