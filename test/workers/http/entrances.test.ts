import { expect, test } from "vitest";
import { request } from "../../support/worker/client.ts";

const GATEWAY = "/new-web-call/connection";
const QUEUE = "/internal/q";

const codeOf = ({ status, body }: Awaited<ReturnType<typeof request>>) => [
  status,
  body.error?.code,
];

test("the gateway wants a WebSocket, whatever else the address holds", async () => {
  for (const query of ["", "?call_id=%00", "?call_id=%zz&assistant_id=%ED%A0%80", "?call_id=a?b"]) {
    const answer = await request("GET", GATEWAY + query);
    expect(codeOf(answer)).toEqual([400, "validation_failed"]);
  }
});

test("an upgrade for what is no call is 404, whatever its id looks like", async () => {
  const headers = { Upgrade: "websocket" };
  for (const id of [
    "",
    "%00",
    "%zz",
    "..",
    "call_0",
    `call_${"0".repeat(34)}`,
    "x".repeat(8_000),
  ]) {
    const answer = await request("GET", `${GATEWAY}?call_id=${id}`, { headers });
    expect([id, ...codeOf(answer)]).toEqual([id, 404, "call_not_found"]);
  }
});

test("what the queue has not signed is refused unread", async () => {
  const bodies = ["", "{", "null", "\0", '{"org":"\\ud800"}', "[".repeat(100_000)];
  for (const path of [`${QUEUE}/sweep`, `${QUEUE}/deliver`, `${QUEUE}/%00`]) {
    for (const body of bodies) {
      for (const signature of ["", "a.b.c", "eyJhbGciOiJub25lIn0.e30."]) {
        const headers = { "Upstash-Signature": signature };
        const answer = await request("POST", path, { body, headers });
        expect(codeOf(answer)).toEqual([401, "invalid_api_key"]);
      }
    }
  }
});
