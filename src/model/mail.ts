// Mail of the installation: a message to addresses, delivered like any other with retries, dead letters and the log (contract 39).
import type { DeliveryDraft } from './delivery.ts';
import { mailConnectorId } from './ids.ts';
import type { TemplateContext } from './template-context.ts';

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

/**
 * The delivery of a mail, for `enqueueDeliveries`. `about` says whose it is and in which order it is
 * sent; its context is kept beside the mail, so that the log shows what the mail was about.
 */
export function mailDelivery(
  mail: Mail,
  about: Omit<DeliveryDraft, 'connectorId' | 'context'> & { readonly context?: TemplateContext },
): DeliveryDraft {
  return { ...about, connectorId: mailConnectorId, context: { ...about.context, mail } };
}
