/** A body for `POST /v1/agents` that has all six fields and means nothing in particular. */
export const agentInput = {
  name: "Ava",
  company_name: "Acme",
  industry: "retail",
  language: "English",
  voice: "female",
  task_type: "support",
};
