// Target: where the deliveries of one connector go.
import type { TemplateContext } from '../../model/template-context.ts';
import { parseTemplate, renderTemplate } from '../templates/template.ts';

export interface OutboundMessage {
  /** The same on every try. */
  readonly deliveryId: string;
  /** Service device id. */
  readonly deviceId: string;
  /** Filled in by the connector's template, or the whole sample as JSON. */
  readonly payload: string;
  readonly contentType: string;
  readonly context: TemplateContext;
  /** When the delivery was created. */
  readonly createdAt?: number;
  readonly correlationId?: string;
  /** How many rules handed the sample on so far. */
  readonly ruleHops?: number;
}

/**
 * `answer` is what came back, in words; without `retry` the delivery is a dead letter at once
 * (contract 35). `sent` is what was sent when it was not the message's payload.
 */
export type SendOutcome =
  | { readonly ok: true; readonly answer: string; readonly sent?: string }
  | {
      readonly ok: false;
      /** HOURS: for some hours, because people can mend what the target refuses. */
      readonly retry: boolean | 'HOURS';
      readonly reason: string;
      readonly answer?: string;
      readonly retryAfterMs?: number;
      readonly sent?: string;
    };

/**
 * Somewhere to send to; its connections are opened by the first delivery and kept while they are
 * used.
 */
export interface Target {
  /** One try; never rejects. `signal` ends it when its time is over. */
  send(message: OutboundMessage, signal: AbortSignal): Promise<SendOutcome>;
  close(): Promise<void>;
}

// Target name: a topic or routing key that is a template, so that it differs by message.

/** Returns a function that renders the template with the context of a message. */
export function createTargetName(text: string): (context: TemplateContext) => string {
  const template = parseTemplate(text, 'text');
  return (context) => renderTemplate(template, context);
}
