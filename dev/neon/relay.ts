import { connect } from "node:net";
import type { WebSocket } from "ws";

const maxUnsentBytes = 1024 * 1024;

/** PostgreSQL's own protocol, carried in the messages of a WebSocket. */
export function relay(client: WebSocket, pgPort: number): void {
  const server = connect(pgPort, "127.0.0.1").setNoDelay(true);
  client.on("message", (data: Buffer) => {
    if (server.write(data)) return;
    client.pause();
    server.once("drain", () => client.resume());
  });
  server.on("data", (data) => {
    if (client.bufferedAmount < maxUnsentBytes) return client.send(data);
    server.pause();
    client.send(data, () => server.resume());
  });
  // A close frame, not a cut connection: drivers report the latter as a failure of the network.
  server.on("error", () => client.close(1011));
  server.on("close", () => client.close(1000));
  client.on("error", () => server.destroy());
  client.on("close", () => server.destroySoon());
}
