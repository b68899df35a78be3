import { parsePhoneNumberFromString } from "libphonenumber-js/min";
import * as z from "zod";
import { type Failure, failure, invalid } from "../../errors.ts";

export const StartPhoneCall = z.object({
  phone_purchase_id: z.string().min(1),
  phoneNumber: z.string().meta({ description: "The number to call, in E.164 form" }),
  provider: z
    .string()
    .optional()
    .meta({ description: "Must be the number's own, when it is sent" }),
});

/** No number has been bought in any organization yet, so none is found. */
export function startPhoneCall(input: z.output<typeof StartPhoneCall>): Failure {
  if (!isE164(input.phoneNumber)) {
    return invalid("phoneNumber", "must be a phone number in E.164 form, such as +14155552671");
  }
  return failure("phone_purchase_not_found", "There is no such phone purchase");
}

/** Of the right form and a possible length for its country; whether it is assigned only a call tells. */
export function isE164(text: string): boolean {
  if (!/^\+[1-9]\d{6,14}$/.test(text)) return false;
  const parsed = parsePhoneNumberFromString(text, { extract: false });
  return parsed?.number === text && parsed.isPossible() && !parsed.ext;
}
