/** A request the stand-in turns down; the answer is `status` with `{ error: message }`. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
