import * as z from "zod";

/** Every scope a key can hold, with what it grants. Order is the order of the reference. */
export const scopeDescriptions = {
  "keys:read": "List keys and scopes",
  "keys:write": "Create, rotate, update scopes, revoke keys",
  "calls:read": "List calls, get transcripts and analysis",
  "calls:write": "Initiate web and phone calls",
  "agents:read": "List and fetch agents",
  "agents:write": "Create and update agents",
  "widgets:read": "List and fetch widgets",
  "widgets:write": "Create, update, delete widgets and create widget calls",
  "workflows:read": "List workflows, fetch jobs and summaries",
  "workflows:write": "Create, run, schedule, cancel, delete workflows",
  "phone:read": "List numbers, purchases, contacts",
  "phone:write": "Allocate agents, schedule calls",
  "create_studio:read": "List text-to-speech, speech-to-text, dubbing jobs and voices",
  "create_studio:write": "Create text-to-speech, speech-to-text, dubbing jobs",
  "analytics:read": "Read dashboard and call analytics",
  "billing:read": "Read billing history, transactions, plan",
  "webhooks:read": "Read webhook delivery history",
} as const;

export type Scope = keyof typeof scopeDescriptions;

export const allScopes = Object.keys(scopeDescriptions) as [Scope, ...Scope[]];

const scope = z.enum(allScopes, { error: "Unknown scope; GET /v1/auth/scopes lists them" });

/** Duplicates are folded; an empty list is a key that may do nothing. */
export const Scopes = z.array(scope).transform((scopes) => [...new Set(scopes)]);
