import type { ClientMessageError } from "./dialect.ts";

export type JsonObject = Record<string, unknown>;

const MAX_TEXT = 10_000;

export function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** The object under this name; an empty one where there is none. */
export function objectIn(parent: JsonObject, name: string): JsonObject {
  const value = parent[name];
  return isObject(value) ? value : {};
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A typed line as a message, or what is wrong with it; `where` names the field to the client. */
export function readUserText(
  where: string,
  text: unknown,
): { type: "user_text"; text: string } | ClientMessageError {
  if (typeof text !== "string" || text.trim() === "" || text.length > MAX_TEXT) {
    return error("bad_message", `${where} must be a string of 1 to ${MAX_TEXT} characters`);
  }
  if (!text.isWellFormed() || text.includes("\0")) {
    return error("bad_message", `${where} must be well-formed Unicode without NUL`);
  }
  return { type: "user_text", text };
}

/** Null for what is not base64. */
export function readBase64(value: unknown): ArrayBuffer | null {
  if (typeof value !== "string") return null;
  try {
    return Uint8Array.from(atob(value), (character) => character.charCodeAt(0)).buffer;
  } catch {
    return null;
  }
}

export function toBase64(bytes: Uint8Array): string {
  // Spread over the arguments of one call, a long piece would overflow the stack.
  const step = 8_192;
  let binary = "";
  for (let at = 0; at < bytes.length; at += step) {
    binary += String.fromCharCode(...bytes.subarray(at, at + step));
  }
  return btoa(binary);
}

export function error(code: string, message: string): ClientMessageError {
  return { type: "error", code, message };
}
