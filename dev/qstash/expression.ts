type Cursor = { tokens: string[]; at: number };

const FUNCTIONS: Record<string, (...values: number[]) => number> = {
  pow: Math.pow,
  sqrt: Math.sqrt,
  abs: Math.abs,
  exp: Math.exp,
  floor: Math.floor,
  ceil: Math.ceil,
  round: Math.round,
  min: Math.min,
  max: Math.max,
};
const TWO_ARGUMENTS = new Set(["pow", "min", "max"]);

/**
 * The value of an `Upstash-Retry-Delay` expression (milliseconds) such as
 * `min(60000, 1000 * pow(2, retried))`; undefined when it is malformed or not a finite number.
 */
export function evaluateDelay(source: string, retried: number): number | undefined {
  const cursor = { tokens: source.match(/\d+(?:\.\d+)?|[A-Za-z]+|\S/g) ?? [], at: 0 };
  const value = sum(cursor, retried);
  // A syntax error is NaN and stays NaN through arithmetic, so one check at the end finds it.
  return cursor.at === cursor.tokens.length && Number.isFinite(value) ? value : undefined;
}

function take(cursor: Cursor, ...wanted: string[]): string | undefined {
  const token = cursor.tokens[cursor.at];
  if (token === undefined || !wanted.includes(token)) return undefined;
  cursor.at += 1;
  return token;
}

function sum(cursor: Cursor, retried: number): number {
  let value = product(cursor, retried);
  for (;;) {
    const operator = take(cursor, "+", "-");
    if (operator === undefined) return value;
    const right = product(cursor, retried);
    value = operator === "+" ? value + right : value - right;
  }
}

function product(cursor: Cursor, retried: number): number {
  let value = signed(cursor, retried);
  for (;;) {
    const operator = take(cursor, "*", "/", "%");
    if (operator === undefined) return value;
    const right = signed(cursor, retried);
    if (operator === "*") value *= right;
    else if (operator === "/") value /= right;
    else value %= right;
  }
}

function signed(cursor: Cursor, retried: number): number {
  return take(cursor, "-") ? -signed(cursor, retried) : term(cursor, retried);
}

function term(cursor: Cursor, retried: number): number {
  const token = cursor.tokens[cursor.at];
  cursor.at += 1;
  if (token === undefined) return Number.NaN;
  if (/^\d/.test(token)) return Number(token);
  if (token === "retried") return retried;
  if (token === "(") {
    const value = sum(cursor, retried);
    return take(cursor, ")") ? value : Number.NaN;
  }
  return call(token, cursor, retried);
}

function call(name: string, cursor: Cursor, retried: number): number {
  const compute = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  if (!compute || !take(cursor, "(")) return Number.NaN;
  const values = [sum(cursor, retried)];
  while (take(cursor, ",")) values.push(sum(cursor, retried));
  const complete = take(cursor, ")") && values.length === (TWO_ARGUMENTS.has(name) ? 2 : 1);
  return complete ? compute(...values) : Number.NaN;
}
