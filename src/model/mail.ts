// Mail of the installation: a message to addresses, delivered like any other with retries, dead letters and the log (contract 39).

/** One message. With both bodies, readers show the HTML one. */
export type Mail = {
  /** Every recipient sees these addresses. */
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
};

/** Whether a text has the form of an address that the mail server can be asked to send to. */
export function isMailAddress(text: string): boolean {
  return text.length <= 254 && /^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(text);
}
