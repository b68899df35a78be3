import * as z from "zod";

/** `{ status: true, message, data }`: what most endpoints answer. */
export function ok<T, Rest extends object = object>(message: string, data: T, rest?: Rest) {
  return { status: true as const, message, data, ...(rest as Rest) };
}

/** The nested variant of the agents' reads: `{ success: true, data: { status, message, … } }`. */
export function nested<Inner extends object>(message: string, inner: Inner) {
  return { success: true as const, data: { status: true as const, message, ...inner } };
}

export const Ok = <T extends z.ZodType>(data: T) =>
  z.object({ status: z.literal(true), message: z.string(), data });

export const Nested = <Shape extends z.ZodRawShape>(inner: Shape) =>
  z.object({
    success: z.literal(true),
    data: z.object({ status: z.literal(true), message: z.string(), ...inner }),
  });

export const ErrorBody = z
  .object({
    success: z.literal(false),
    status: z.literal(false),
    message: z.string(),
    error: z.object({
      code: z.string(),
      requestId: z.string(),
      issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    }),
  })
  .meta({ id: "Error", description: "What every refusal looks like" });
