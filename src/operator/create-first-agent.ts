import { agents } from "../db/schema/index.ts";
import type { Tenant } from "../db/tenant.ts";
import { newId } from "../ids.ts";

/** An agent to talk to, in an organization that has none yet. Returns its id. */
export async function createFirstAgent(db: Tenant, now: number): Promise<string> {
  const id = newId("agt", now);
  const at = new Date(now);
  await db.write((q) => [
    q.insert(agents).values({
      orgId: db.organizationId,
      id,
      kind: "conversation",
      name: "Amelia",
      companyName: "Example Company",
      industry: "Customer service",
      language: "English",
      taskType: "Answer questions",
      firstMessage: "Hello, this is Amelia from Example Company. How can I help you today?",
      systemPrompt:
        "You are Amelia, a voice agent of Example Company. Answer in one to three short sentences.",
      provider: "service_voice_model_1",
      model: null,
      voiceProvider: "service_voice_model_1",
      voiceModel: "multilingual_v2",
      voiceId: "amelia",
      hipaa: false,
      endCallPhrases: [],
      createdAt: at,
      updatedAt: at,
    }),
  ]);
  return id;
}
