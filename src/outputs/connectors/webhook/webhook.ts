// Webhook: one HTTP request per delivery, with the headers and the authentication that its owner chose (contract 9).
import { connectorType, type PropertyChecks } from '../connector-type.ts';
import { createLazyTarget } from '../target.ts';
import { parseWebhook, webhookProperties, type WebhookProperties } from './webhook-properties.ts';

/** Headers that the platform sets itself. */
const ownHeaders = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'x-delivery-id',
  'idempotency-key',
]);

/** The member that an authentication type needs. */
const neededFor = new Map<unknown, readonly ['bearerToken' | 'basicCredentials' | 'oauth2']>([
  ['BEARER', ['bearerToken']],
  ['BASIC', ['basicCredentials']],
  ['OAUTH2', ['oauth2']],
]);

export const webhook = connectorType({
  vendorName: 'WEBHOOK',
  propertiesKey: 'webhookProperties',
  properties: webhookProperties,
  secrets: ['authHeaders', 'basicCredentials', 'bearerToken', 'oauth2.clientSecret', 'hmacSecret'],
  secretsByName: ['headers'],
  alsoNeeded: ({ authType }) => neededFor.get(authType) ?? [],
  needsJsonPayload: true,
  parse: parseWebhook,
  check,
  open: (properties, services) =>
    createLazyTarget(async () => {
      const { createWebhookTarget } = await import('./webhook-sender.ts');
      return createWebhookTarget(properties, services);
    }),
});

function check(properties: WebhookProperties, checks: PropertyChecks): void {
  const { uri, customPayload, authType, oauth2, headers, authHeaders } = properties;
  checks.url('uri', uri);
  checks.template('uri', uri, 'url');
  if (customPayload !== null) checks.template('customPayload', customPayload, 'json');
  if (authType === 'OAUTH2') checks.url('oauth2.tokenUrl', oauth2?.tokenUrl ?? '');
  for (const [name, value] of Object.entries(headers)) checks.template(`headers.${name}`, value);
  for (const [name, value] of [...Object.entries(headers), ...Object.entries(authHeaders)]) {
    if (isHeader(name, value) && !ownHeaders.has(name.toLowerCase())) continue;
    checks.refuse(undefined, `header ${JSON.stringify(name)} is reserved`);
  }
}

function isHeader(name: string, value: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && !/[\r\n\0]/.test(value);
}
