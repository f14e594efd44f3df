// Kafka: one record per delivery (contract 9).
import type { Json } from '../../../model/json.ts';
import { connectorType } from '../connector-type.ts';
import { createLazyTarget } from '../target.ts';
import { kafkaEndpoints, kafkaProperties, parseKafka } from './kafka-properties.ts';

const protocolsWithoutUser: ReadonlySet<Json | undefined> = new Set(['PLAINTEXT', 'SSL']);

export const kafka = connectorType({
  vendorName: 'KAFKA',
  propertiesKey: 'kafkaProperties',
  properties: kafkaProperties,
  secrets: ['saslJaasPassword', 'clientKey'],
  alsoNeeded: ({ securityProtocol }) =>
    protocolsWithoutUser.has(securityProtocol) ? [] : ['saslJaasUsername', 'saslJaasPassword'],
  parse: parseKafka,
  check({ kafkaBootstrapServers }, checks) {
    for (const endpoint of kafkaEndpoints(kafkaBootstrapServers) ?? [undefined])
      checks.endpoint('kafkaBootstrapServers', endpoint);
  },
  open: (properties, { egress }) =>
    createLazyTarget(async () => {
      const { createKafkaTarget } = await import('./kafka-sender.ts');
      return createKafkaTarget(properties, egress);
    }),
});
