import { canonical, type HeaderLists } from "./headers.ts";

export type FlowControl = { key: string; parallelism?: number; rate?: number; periodMs: number };

/** What a caller asked for; a published message, a batch item, a schedule and a callback share it. */
export type Settings = {
  url: string;
  method: string;
  /** Sent to the destination, by lower-case name. */
  header: HeaderLists;
  delayMs: number;
  /** Unix milliseconds on the caller's clock; wins over `delayMs`. */
  notBefore?: number;
  retries: number;
  /** An expression in `retried`, in milliseconds. */
  retryDelay?: string;
  timeoutMs: number;
  labels: string[];
  flow?: FlowControl;
  callback?: Settings;
  failureCallback?: Settings;
};

export type Message = {
  id: string;
  settings: Settings;
  body: Uint8Array;
  /** Unix milliseconds, real clock, as is `notBefore`. */
  createdAt: number;
  notBefore: number;
  retried: number;
  scheduleId?: string;
};

/** The settings under the names the API shows them by. */
export function settingsView(settings: Settings) {
  return {
    method: settings.method,
    header: canonical(settings.header),
    callback: settings.callback?.url,
    failureCallback: settings.failureCallback?.url,
    retryDelayExpression: settings.retryDelay,
    label: settings.labels[0],
    labels: settings.labels.length > 0 ? settings.labels : undefined,
    flowControlKey: settings.flow?.key,
    parallelism: settings.flow?.parallelism,
    rate: settings.flow?.rate,
    period: settings.flow?.rate === undefined ? undefined : settings.flow.periodMs / 1000,
  };
}

export function messageView(message: Message) {
  return {
    messageId: message.id,
    url: message.settings.url,
    ...settingsView(message.settings),
    ...bodyView("body", message.body),
    maxRetries: message.settings.retries,
    notBefore: message.notBefore,
    createdAt: message.createdAt,
    scheduleId: message.scheduleId,
  };
}

/** `{ [name]: text }`, or `{ [name]Base64: … }` when the bytes are not UTF-8. */
export function bodyView(name: string, body: Uint8Array): Record<string, string> {
  try {
    return { [name]: new TextDecoder("utf-8", { fatal: true }).decode(body) };
  } catch {
    return { [`${name}Base64`]: Buffer.from(body).toString("base64") };
  }
}
