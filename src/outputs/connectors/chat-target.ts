// Chat target: posts a message as JSON to the incoming webhook of a chat service.
import type { Json } from '../../model/json.ts';
import { parseTemplate, renderTemplate } from '../templates/template.ts';
import type { ConnectorServices } from './connector-services.ts';
import { failureOf, outcomeOf } from './http-answer.ts';
import type { Target } from './target.ts';

export function createChatTarget(
  {
    url,
    message,
    notation,
    body,
  }: {
    readonly url: string;
    /** A template in the notation of the service; values are plain text in it. */
    readonly message: string;
    readonly notation: 'slack' | 'markdown';
    /** The request body for a rendered message. */
    readonly body: (text: string) => Json;
  },
  { egress, now }: ConnectorServices,
): Target {
  const template = parseTemplate(message, notation);
  return {
    async send({ deliveryId, context }, signal) {
      try {
        const sent = renderTemplate(template, context);
        const headers = {
          'content-type': 'application/json',
          'x-delivery-id': deliveryId,
          'idempotency-key': deliveryId,
        };
        const request = { method: 'POST', url, headers, body: JSON.stringify(body(sent)) };
        return { ...outcomeOf(await egress.request(request, signal), now), sent };
      } catch (error) {
        return failureOf(error, signal);
      }
    },
    close: async () => {},
  };
}
