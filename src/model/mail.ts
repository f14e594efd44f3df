// Mail of the installation: a message to addresses, delivered like any other with retries, dead letters and the log (contract 39).

/** One message. With both bodies, readers show the HTML one. */
export type Mail = {
  /** Every recipient sees these addresses. */
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  /** Of a report: the body as HTML, its pictures, and attached files are kept under this id. */
  readonly contentId?: string;
  /** Address that ends these mails to the recipient by one request (RFC 8058). */
  readonly unsubscribe?: string;
};

/** A part of a mail that several mails have in common. */
export interface MailFile {
  readonly name: string;
  readonly contentType: string;
  /** The name by which the body shows it; null for the body itself, and for an attached file. */
  readonly cid: string | null;
  readonly content: Uint8Array;
}

/** Whether a text has the form of an address that the mail server can be asked to send to. */
export function isMailAddress(text: string): boolean {
  return text.length <= 254 && /^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(text);
}
