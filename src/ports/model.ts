export type ChatMessage = { role: "system" | "user" | "assistant"; content: string };

export type ModelRequest = {
  /** The vendor's own name of the model; aliases are resolved before. */
  model: string;
  messages: readonly ChatMessage[];
  /** Aborting closes the request upstream. */
  signal: AbortSignal;
};

/** A JSON object that follows `schema` (JSON Schema 2020-12, an object at the top). */
export type StructuredRequest = ModelRequest & {
  schemaName: string;
  schema: Record<string, unknown>;
};

/**
 * A reasoning model. It holds nothing between calls: every request carries its whole history.
 * Both methods throw `PortError`.
 */
export type Model = {
  /** One reply as pieces of text, in order, as they arrive. Never an empty piece. */
  stream(request: ModelRequest): AsyncIterable<string>;
  /** One reply parsed as JSON. The caller validates its shape. */
  answer(request: StructuredRequest): Promise<unknown>;
};
