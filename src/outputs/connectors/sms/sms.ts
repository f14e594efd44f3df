// SMS: one request per recipient to the gateway of the operator, `SMS_GATEWAY_URL` (contract 9).
import Type from 'typebox';
import { isJsonObject, type Json } from '../../../model/json.ts';
import { createBoundedMap } from '../../../structures/caches.ts';
import type { HttpCall } from '../../egress/http-exchange.ts';
import { parseTemplate, renderTemplate } from '../../templates/template.ts';
import type { ConnectorServices } from '../connector-services.ts';
import { connectorType } from '../connector-type.ts';
import { failureOf, outcomeOf } from '../http-answer.ts';
import { anyText, type PropertyReader, text } from '../properties.ts';
import type { SendOutcome, Target } from '../target.ts';

// Recipient phones: the numbers that an SMS connector sends to.

const recipientsMax = 50;

type RecipientPhone = {
  /** A country code with its plus sign. */
  readonly prefix: string;
  /** May contain spaces, parentheses, slashes and dashes. */
  readonly phone: string;
};

type SmsProperties = {
  /** A template. */
  readonly messageText: string;
  readonly recipientPhones: readonly RecipientPhone[];
};

type PhonesReader = PropertyReader<'recipientPhones'>;

function parseRecipientPhones(sent: PhonesReader): readonly RecipientPhone[] {
  return sent.list('recipientPhones', recipientsMax).map((phone, i) => parsePhone(sent, phone, i));
}

function parsePhone(sent: PhonesReader, value: Json, i: number): RecipientPhone {
  const { prefix, phone } = isJsonObject(value) ? value : {};
  if (typeof prefix !== 'string' || !/^\+?\d{1,4}$/.test(prefix))
    return sent.refuse(`recipientPhones.${i}.prefix`, 'must be a country code such as +41');
  if (typeof phone !== 'string' || !/^[\d\s()/-]{3,20}$/.test(phone))
    return sent.refuse(`recipientPhones.${i}.phone`, 'must be a phone number');
  return { prefix: prefix.replace(/^\+?/, '+'), phone };
}

// SMS target: asks the gateway for one message per recipient, as JSON {to, text, id}.
// User and password in the URL of the gateway become Basic authentication.

/** Deliveries that some recipients have received and others have not. */
const partlySentMax = 1_000;

/** The egress guard does not check the gateway, because its address comes from the operator. */
function createSmsTarget(
  { messageText, recipientPhones }: SmsProperties,
  gatewayUrl: string,
  { egress, now }: ConnectorServices,
): Target {
  const template = parseTemplate(messageText, 'text');
  const gateway = gatewayOf(gatewayUrl);
  const numbers = recipientPhones.map(numberOf);
  /** Number of recipients reached, of the newest deliveries. */
  const reached = createBoundedMap<string, number>(partlySentMax);

  async function sendAll(deliveryId: string, text: string, signal: AbortSignal) {
    const answers: string[] = [];
    // A retry skips the recipients that an earlier attempt reached.
    const first = reached.get(deliveryId) ?? 0;
    for (const [i, to] of numbers.entries()) {
      if (i < first) continue;
      const request = requestOf(gateway, deliveryId, { id: `${deliveryId}-${i}`, to, text });
      const outcome = outcomeOf(await egress.request(request, signal), now);
      if (!outcome.ok) return outcome;
      answers.push(outcome.answer);
      reached.set(deliveryId, i + 1);
    }
    reached.delete(deliveryId);
    return { ok: true, answer: answers.join('\n') } satisfies SendOutcome;
  }

  return {
    async send({ deliveryId, context }, signal) {
      const sent = renderTemplate(template, context);
      try {
        return { ...(await sendAll(deliveryId, sent, signal)), sent };
      } catch (error) {
        return { ...failureOf(error, signal), sent };
      }
    },
    close: async () => {},
  };
}

function numberOf({ prefix, phone }: RecipientPhone): string {
  return `${prefix}${phone}`.replaceAll(/[\s()/-]/g, '');
}

interface Gateway {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

function gatewayOf(gatewayUrl: string): Gateway {
  const url = new URL(gatewayUrl);
  const user = [url.username, url.password].map(decodeURIComponent).join(':');
  url.username = '';
  url.password = '';
  if (user === ':') return { url: url.href, headers: {} };
  const authorization = `Basic ${Buffer.from(user).toString('base64')}`;
  return { url: url.href, headers: { authorization } };
}

function requestOf(
  { url, headers: own }: Gateway,
  deliveryId: string,
  sms: {
    readonly id: string;
    readonly to: string;
    readonly text: string;
  },
): HttpCall {
  const headers = {
    'content-type': 'application/json',
    'x-delivery-id': deliveryId,
    'idempotency-key': sms.id,
    ...own,
  };
  const { to, text, id } = sms;
  const body = JSON.stringify({ to, text, id });
  return { method: 'POST', url, headers, body, isOperators: true };
}

export const sms = connectorType({
  vendorName: 'SMS',
  propertiesKey: 'smsProperties',
  properties: {
    messageText: text('Template of the message.'),
    recipientPhones: Type.Array(Type.Object({ prefix: anyText, phone: anyText }), {
      minItems: 1,
      maxItems: recipientsMax,
    }),
  },
  secrets: [],
  missingSetting: ({ smsGatewayUrl }) =>
    smsGatewayUrl === undefined ? 'SMS_GATEWAY_URL' : undefined,
  parse(sent): SmsProperties {
    const recipientPhones = parseRecipientPhones(sent);
    return { messageText: sent.needed('messageText'), recipientPhones };
  },
  check: ({ messageText }, checks) => checks.template('messageText', messageText),
  open(properties, services) {
    const { smsGatewayUrl } = services;
    if (smsGatewayUrl === undefined) throw new Error('SMS_GATEWAY_URL is not set');
    return createSmsTarget(properties, smsGatewayUrl, services);
  },
});
