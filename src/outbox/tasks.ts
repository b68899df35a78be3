import { deliverWebhook } from "../resources/webhooks/deliver.ts";
import type { Task } from "./task.ts";

/** Every kind of work that happens later, by the name that rows and messages carry. */
export const tasks: Record<string, Task> = {
  "deliver-webhook": deliverWebhook,
};
