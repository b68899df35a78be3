/** The package brings no types; this is the part that is used. */
declare module "vader-sentiment" {
  const vader: {
    SentimentIntensityAnalyzer: {
      /** `compound` is -1 (negative) to 1 (positive). */
      polarity_scores(text: string): { compound: number };
    };
  };
  export default vader;
}
