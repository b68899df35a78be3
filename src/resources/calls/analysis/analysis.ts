import * as z from "zod";

const MAX_TAGS = 10;

/** What a call was about, as the wire shows it and as the model must answer. */
export const Analysis = z
  .object({
    summary: z.string(),
    sentiment: z.enum(["positive", "neutral", "negative"]),
    tags: z.array(z.string()),
  })
  .meta({ id: "Analysis", description: "What a call was about" });

export type Analysis = z.infer<typeof Analysis>;

/** The same for the model, with what it should know of each field. */
export const analysisSchema = {
  type: "object",
  additionalProperties: false,
  required: ["summary", "sentiment", "tags"],
  properties: {
    summary: {
      type: "string",
      description: "Two or three sentences: what was asked, what came of it",
    },
    sentiment: {
      type: "string",
      enum: ["positive", "neutral", "negative"],
      description: "The caller's, at the end of the call",
    },
    tags: {
      type: "array",
      items: { type: "string" },
      description: "One to five topics in lower case, one to three words each",
    },
  },
};

/** A model may ask for more than is kept; an answer that is no analysis at all gives null. */
export function readAnalysis(answer: unknown): Analysis | null {
  const parsed = Analysis.safeParse(answer);
  if (!parsed.success || parsed.data.summary.trim() === "") return null;
  const tags = parsed.data.tags.map(normalTag).filter(Boolean);
  return {
    summary: clean(parsed.data.summary).slice(0, 4_000),
    sentiment: parsed.data.sentiment,
    tags: [...new Set(tags)].slice(0, MAX_TAGS),
  };
}

function normalTag(tag: string): string {
  return clean(tag).toLowerCase().replace(/\s+/g, " ").slice(0, 60);
}

/** Postgres refuses NUL and lone surrogates, and a model may answer anything. */
function clean(text: string): string {
  return text.toWellFormed().replaceAll("\0", "").trim();
}
