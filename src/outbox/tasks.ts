import { analyzeCall } from "../resources/calls/analysis/analyze.ts";
import { tellGate } from "../resources/keys/tell-gate.ts";
import { deliverWebhook } from "../resources/webhooks/deliver.ts";
import type { Task } from "./task.ts";

/** Every kind of work that happens later, by the name that rows and messages carry. */
export const tasks: Record<string, Task> = {
  "analyze-call": analyzeCall,
  "deliver-webhook": deliverWebhook,
  "tell-gate": tellGate,
};
