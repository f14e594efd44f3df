// NATS, with or without JetStream: one message per delivery (contract 9).
import { connectorType } from '../connector-type.ts';
import { createLazyTarget } from '../target.ts';
import { targetUri } from '../target-uri.ts';
import { natsPorts, natsProperties, parseNats } from './nats-properties.ts';

export const nats = connectorType({
  vendorName: null,
  propertiesKey: 'natsProperties',
  properties: natsProperties,
  secrets: ['password', 'token', 'credentials', 'clientKey'],
  parse: parseNats,
  check({ uri, subject }, checks) {
    checks.endpoint('uri', targetUri(uri, natsPorts));
    checks.template('subject', subject);
  },
  open: (properties, { egress }) =>
    createLazyTarget(async () => {
      const { createNatsTarget } = await import('./nats-sender.ts');
      return createNatsTarget(properties, egress);
    }),
});
