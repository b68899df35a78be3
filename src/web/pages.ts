import { Hono } from "hono";
import type { Http } from "../http/types.ts";

/** What browsers load, and what tools read about the service. All of it is public. */
export const pages = new Hono<Http>().get("/healthz", (c) => c.json({ status: true }));
