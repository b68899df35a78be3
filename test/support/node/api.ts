export type ApiAnswer = {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts the shape of what it reads
  body: any;
};

/** A client that knows an address and a key, as a customer's script would. */
export function apiClient(baseUrl: string, key: string) {
  return async (method: string, path: string, json?: object): Promise<ApiAnswer> => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { "X-API-Key": key, ...(json && { "Content-Type": "application/json" }) },
      ...(json && { body: JSON.stringify(json) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text ? JSON.parse(text) : null,
    };
  };
}
