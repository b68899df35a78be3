/** An endpoint that has answered nothing but failures for so long is disabled. */
export const FAILING_DAYS = 5;
