/** Header values by lower-case name. */
export type HeaderLists = Record<string, string[]>;

export function headerLists(headers: Record<string, unknown>): HeaderLists {
  const lists: HeaderLists = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) lists[name.toLowerCase()] = [value].flat().map(String);
  }
  return lists;
}

export function headerValue(headers: HeaderLists, name: string): string | undefined {
  return headers[name.toLowerCase()]?.join(", ");
}

/** The headers whose name starts with `prefix`, under `replacement` instead. */
export function renamed(headers: HeaderLists, prefix: string, replacement: string): HeaderLists {
  const start = prefix.toLowerCase();
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name.startsWith(start))
      .map(([name, values]) => [replacement.toLowerCase() + name.slice(start.length), values]),
  );
}

/** `content-type` → `Content-Type`, the form in which QStash shows header names. */
export function canonical(headers: HeaderLists): HeaderLists {
  return Object.fromEntries(
    Object.entries(headers).map(([name, values]) => [
      name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase()),
      values,
    ]),
  );
}
