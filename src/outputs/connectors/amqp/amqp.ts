// AMQP 0-9-1, for brokers such as RabbitMQ: one message per delivery (contract 9).
import { connectorType } from '../connector-type.ts';
import { createLazyTarget } from '../target.ts';
import { targetUri } from '../target-uri.ts';
import { amqpPorts, amqpProperties, parseAmqp } from './amqp-properties.ts';

export const amqp = connectorType({
  vendorName: null,
  propertiesKey: 'amqpProperties',
  properties: amqpProperties,
  secrets: ['password', 'clientKey'],
  alsoNeeded: ({ exchange }) => (exchange ? [] : ['routingKey']),
  parse: parseAmqp,
  check({ uri, routingKey }, checks) {
    checks.endpoint('uri', targetUri(uri, amqpPorts));
    checks.template('routingKey', routingKey);
  },
  open: (properties, { egress }) =>
    createLazyTarget(async () => {
      const { createAmqpTarget } = await import('./amqp-sender.ts');
      return createAmqpTarget(properties, egress);
    }),
});
