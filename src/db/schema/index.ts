export { agents } from "./agents.ts";
export { analyses } from "./analyses.ts";
export { calls, type TranscriptEntry, transcripts } from "./calls.ts";
export { idempotencyKeys } from "./idempotency.ts";
export { apiKeys, keyAudit } from "./keys.ts";
export { organizations } from "./organizations.ts";
export { marks, outbox } from "./outbox.ts";
export { tenantRole } from "./shared.ts";
export { attemptCounts, attempts, deliveries, endpoints, events } from "./webhooks.ts";
