import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { apiDocument } from "../../../dev/assets.ts";

type Operation = {
  operationId: string;
  summary: string;
  description: string;
  security: unknown[];
  parameters: { name: string; in: string }[];
  responses: Record<string, { description: string }>;
};

const document = JSON.parse(JSON.stringify(apiDocument()));
const operations = Object.entries<Record<string, Operation>>(document.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

test("an independent validator finds the document to be OpenAPI 3.1", async () => {
  const validator = new Validator();
  expect(await validator.validate(document)).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
});

test("every $ref leads somewhere", () => {
  const refs = JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g);
  for (const [, pointer = ""] of refs) {
    const target = pointer
      .split("/")
      .reduce((place: unknown, name) => Object(place)[name] as unknown, document);
    expect(target, pointer).toBeTypeOf("object");
  }
});

test("every operation says what it does, whom it asks for and how it can answer", () => {
  expect(document.components.securitySchemes.apiKey).toMatchObject({ name: "X-API-Key" });
  for (const { path, method, operation } of operations) {
    const name = `${method} ${path}`;
    expect(operation.summary, name).not.toBe("");
    const [, scope] = /Scope: `(.+)`\.$/.exec(operation.description) ?? [];
    expect(operation.security, name).toEqual([{ apiKey: [scope] }]);
    const statuses = Object.keys(operation.responses);
    expect(statuses, name).toEqual(
      expect.arrayContaining(["400", "401", "403", "404", "429", "500", "503"]),
    );
    expect(statuses.some((status) => status.startsWith("2"))).toBe(true);
    const inPath = operation.parameters.filter((parameter) => parameter.in === "path");
    expect(inPath.map((parameter) => `{${parameter.name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
  }
});

test("no two operations share an operationId", () => {
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
});

test("what a request may leave out is not required, and what is named becomes a $ref", () => {
  const create = document.paths["/v1/auth/keys"].post;
  expect(create.requestBody.required).toBe(false);
  expect(create.requestBody.content["application/json"].schema.required ?? []).toEqual([]);
  const data = create.responses["201"].content["application/json"].schema.properties.data;
  expect(data).toEqual({ $ref: "#/components/schemas/ApiKeyWithSecret" });
  const agent = document.paths["/v1/agents"].post.requestBody;
  expect(agent.required).toBe(true);
});

test("the document names no vendor and no code that the wire does not know", () => {
  expect(JSON.stringify(document)).not.toMatch(
    /userId|openai|eleven|deepgram|upstash|qstash|neon|gpt-/i,
  );
  expect(JSON.stringify(document)).not.toContain("key_is_revoked");
});
