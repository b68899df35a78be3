import * as z from "zod";

/** What a refused field is told: what it must be, in the words of the reference. */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined && issue.code !== "custom") return "is required";
  switch (issue.code) {
    case "invalid_type":
      return `must be ${article(issue.expected)}`;
    case "too_small":
      return bound(issue.origin, "at least", Number(issue.minimum));
    case "too_big":
      return bound(issue.origin, "at most", Number(issue.maximum));
    case "invalid_value":
      return `must be ${issue.values.map(String).join(" or ")}`;
    case "invalid_format":
      return format(issue.format);
    case "invalid_union":
      return "has the wrong form";
    default:
      return undefined;
  }
}

z.config({ customError: (issue) => describeIssue(issue) });

function article(type: string): string {
  if (type === "int" || type === "number") return type === "int" ? "a whole number" : "a number";
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function bound(origin: string, which: "at least" | "at most", limit: number): string {
  if (origin === "string" && which === "at least" && limit === 1) return "must not be empty";
  const unit = { string: " characters", array: " entries" }[origin] ?? "";
  return unit ? `must have ${which} ${limit}${unit}` : `must be ${which} ${limit}`;
}

function format(name: string): string | undefined {
  if (name === "datetime") {
    return "must be an ISO 8601 date-time with Z or an offset, such as 2027-01-31T09:00:00Z";
  }
  if (name === "date") return "must be a date, such as 2027-01-31";
  if (name === "url") return "must be an absolute URL";
  return undefined;
}
