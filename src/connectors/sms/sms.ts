// Output by SMS: one request to the operator's gateway for each recipient (`SMS_GATEWAY_URL`).
// The gateway is sent JSON {to, text, id}; user and password in its URL become Basic authentication.
import type { SmsProperties } from '../../model/message-properties.ts';
import { renderTemplate } from '../../templates/render-template.ts';
import { parseTemplate } from '../../templates/template.ts';
import type { OutboundConnector, SendOutcome } from '../target.ts';
import { call, failureOf, outcomeOf } from '../http-answer.ts';
import { createBoundedMap } from '../../structures/bounded-map.ts';

/** Deliveries of which some recipients were reached and others not yet. */
const partlySentMax = 1_000;

/** The gateway is the operator's, so the guard is not asked. */
export function smsConnector(gatewayUrl: string): OutboundConnector {
  const { url, authorization } = gatewayOf(gatewayUrl);
  return {
    type: 'SMS',
    check(properties) {
      parseTemplate(
        (properties as unknown as SmsProperties).messageText,
        'text',
        'body smsProperties.messageText',
      );
    },
    open(properties, _egress, now) {
      const { messageText, recipientPhones } = properties as unknown as SmsProperties;
      const template = parseTemplate(messageText, 'text');
      const partlySent = createBoundedMap<string, number>(partlySentMax);

      async function sendTo(
        deliveryId: string,
        at: number,
        text: string,
        signal: AbortSignal,
      ): Promise<SendOutcome> {
        const { prefix, phone } = recipientPhones[at]!;
        const id = `${deliveryId}-${at}`;
        const to = `${prefix}${phone}`.replaceAll(/[\s()/-]/g, '');
        const headers = {
          'content-type': 'application/json',
          'x-delivery-id': deliveryId,
          'idempotency-key': id,
        };
        const request = { method: 'POST', url, headers: { ...headers, ...authorization } };
        return outcomeOf(
          await call({ ...request, body: JSON.stringify({ to, text, id }) }, signal),
          now,
        );
      }

      return {
        async send({ deliveryId, context }, signal) {
          const sent = renderTemplate(template, context);
          const answers: string[] = [];
          try {
            // Who was reached by an earlier try gets no second message.
            for (let at = partlySent.get(deliveryId) ?? 0; at < recipientPhones.length; at++) {
              const outcome = await sendTo(deliveryId, at, sent, signal);
              if (!outcome.ok) return { ...outcome, sent };
              answers.push(outcome.answer);
              partlySent.set(deliveryId, at + 1);
            }
            partlySent.delete(deliveryId);
            return { ok: true, answer: answers.join('\n'), sent };
          } catch (error) {
            return { ...(await failureOf(error, signal)), sent };
          }
        },
        close: async () => {},
      };
    },
  };
}

function gatewayOf(gatewayUrl: string) {
  const url = new URL(gatewayUrl);
  const user = [url.username, url.password].map(decodeURIComponent).join(':');
  const authorization =
    user === ':' ? {} : { authorization: `Basic ${Buffer.from(user).toString('base64')}` };
  url.username = '';
  url.password = '';
  return { url: url.href, authorization };
}
