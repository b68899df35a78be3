import { exports } from "cloudflare:workers";
import { expect, vi } from "vitest";
import { agentInput } from "../agent-input.ts";
import { newOrganization, request } from "./client.ts";

export type Message = { type: string } & Record<string, unknown>;

/** An organization with an agent; `patch` changes the agent. */
export async function newAgent(patch: Record<string, unknown> = {}, callbackUrl?: string) {
  const organization = await newOrganization(callbackUrl);
  const key = organization.apiKey;
  const created = await request("POST", "/v1/agents", {
    key,
    json: agentInput,
  });
  const agentId: string = created.body.data.id;
  if (Object.keys(patch).length > 0) {
    const json = { id: agentId, ...patch };
    expect((await request("PATCH", `/v1/agents/${agentId}`, { key, json })).status).toBe(200);
  }
  return { ...organization, key, agentId };
}

export async function newCall(key: string, agentId: string, more: object = {}) {
  const json = { assistantId: agentId, type: "web", ...more };
  const started = await request("POST", "/v1/calls/initiate", { key, json });
  expect(started.status).toBe(201);
  const url = new URL(started.body.gateway.url);
  return { callId: started.body.callId as string, path: url.pathname + url.search };
}

export function handshake(path: string, protocol?: string): Promise<Response> {
  const headers = new Headers({ Upgrade: "websocket" });
  if (protocol) headers.set("Sec-WebSocket-Protocol", protocol);
  return exports.default.fetch(`http://127.0.0.1${path}`, { headers });
}

/** A client of the gateway, inside workerd: no audio leaves it unless a test sends some. */
export async function join(path: string, protocol?: string) {
  const response = await handshake(path, protocol);
  const socket = response.webSocket;
  if (!socket) throw new Error(`the handshake was refused: ${response.status}`);
  socket.binaryType = "arraybuffer";
  const messages: Message[] = [];
  const audio: ArrayBuffer[] = [];
  let closed: { code: number; reason: string } | null = null;
  socket.addEventListener("message", ({ data }) => {
    if (typeof data !== "string") audio.push(data as ArrayBuffer);
    else if (data === "pong") messages.push({ type: "pong" });
    else messages.push(JSON.parse(data) as Message);
  });
  socket.addEventListener("close", ({ code, reason }) => {
    closed = { code, reason };
  });
  socket.accept();
  return {
    messages,
    audio,
    socket,
    send: (message: object) => socket.send(JSON.stringify(message)),
    ofType: (type: string) => messages.filter((message) => message.type === type),
    /** The first message that fits, once it is there. */
    until: (fits: (message: Message) => boolean) =>
      vi.waitFor(
        () => {
          const found = messages.find(fits);
          if (!found) throw new Error(`came: ${messages.map((m) => m.type).join(" ")}`);
          return found;
        },
        { timeout: 10_000, interval: 5 },
      ),
    untilClosed: () =>
      vi.waitFor(
        () => {
          if (!closed) throw new Error("still open");
          return closed;
        },
        { timeout: 10_000, interval: 5 },
      ),
  };
}

export const finalText = (text: string) => (message: Message) =>
  message.type === "agent_text" && message["final"] === true && message["text"] === text;

/** What the model is to say next to whoever says `match`. */
export async function scriptModel(worldUrl: string, match: string, reply: object): Promise<void> {
  const body = JSON.stringify({ replies: [{ match, ...reply }] });
  const response = await fetch(`${worldUrl}/model/script`, { method: "POST", body });
  expect(response.status).toBe(200);
  await response.body?.cancel();
}
