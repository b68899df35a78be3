import { sayAddresses } from "./speakable/addresses.ts";
import { withoutMarkdown } from "./speakable/markdown.ts";
import { sayQuantities } from "./speakable/quantities.ts";

/**
 * A piece of written text as a voice should get it: nothing that is only for the eye, and addresses,
 * money and measures in words of the language (BCP-47). It may be empty. The transcript keeps what
 * was written.
 */
export function speakable(text: string, language: string): string {
  const plain = withoutMarkdown(text).replace(pictures, " ");
  const said = sayQuantities(sayAddresses(plain, language), language);
  return said
    .replace(/\s+/gu, " ")
    .replace(/ ([,.;:!?])/gu, "$1")
    .trim();
}

/** Emoji, with the joiners and variants between them; digits and "©" are no pictures. */
const pictures =
  /(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F)(?:\uFE0F|\u200D|\p{Emoji_Modifier}|\p{Extended_Pictographic})*/gu;
