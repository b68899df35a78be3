export { agents } from "./agents.ts";
export { analyses } from "./analyses.ts";
export { calls, type TranscriptEntry, transcripts } from "./calls.ts";
export { apiKeys, keyAudit } from "./keys.ts";
export { organizations } from "./organizations.ts";
export { outbox } from "./outbox.ts";
export { tenantRole } from "./shared.ts";
export { attempts, deliveries, events } from "./webhooks.ts";
