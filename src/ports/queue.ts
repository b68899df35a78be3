export type QueueMessage = {
  /** The work's name: the message goes to `/internal/q/<task>`. */
  task: string;
  /** Ids only: a queue keeps what it is given. */
  body: { org: string; id: string; gen: number };
  /** Seconds from now; 0 is at once. */
  delaySeconds: number;
  /** At most `width` messages of one lane are under way at once; the others of it wait. */
  lane: { name: string; width: number };
};

/** The timer of everything that happens later. It may deliver late, twice, or never. */
export type Queue = {
  /** Throws `PortError`. Nothing is lost when it does: the sweeper publishes again. */
  publish(messages: readonly QueueMessage[]): Promise<void>;
};

/** Says whether a request to `/internal/q/*` really comes from the queue. `body` is the raw text. */
export type QueueReceiver = {
  verify(request: { url: string; signature: string; body: string }): Promise<boolean>;
};
