// SMS: one request per recipient to the gateway of the operator, `SMS_GATEWAY_URL` (contract 9).
import Type from 'typebox';
import { connectorType } from '../connector-type.ts';
import { anyText, text } from '../property-schemas.ts';
import { parseRecipientPhones, recipientsMax, type SmsProperties } from './recipient-phones.ts';
import { createSmsTarget } from './sms-target.ts';

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
