/** The bare runtime has no `cloudflare:email`, which the package imports for what no call uses. */
export class EmailMessage {}
