// Kafka properties: schemas and parser (contract 9).
import type { PropertyReader } from '../property-parser.ts';
import { anyText, oneOf, optional, optionalText, text } from '../property-schemas.ts';
import { type Endpoint, targetUri } from '../target-uri.ts';
import { parseTls, tlsProperties, type TlsProperties } from '../sign-on-properties.ts';

// Kafka endpoints: hosts and ports out of a list of bootstrap servers.

const ports = { kafka: 9092 };

/** Reads `host:port,host:port`; undefined when an element is anything else. */
export function kafkaEndpoints(text: string): readonly Endpoint[] | undefined {
  const endpoints: Endpoint[] = [];
  for (const server of text.split(',')) {
    const uri = targetUri(`kafka://${server.trim()}`, ports);
    if (uri === undefined || uri.path !== '') return undefined;
    endpoints.push({ host: uri.host, port: uri.port });
  }
  return endpoints;
}

const securityProtocols = ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'] as const;
const saslMechanisms = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const;

export type KafkaProperties = TlsProperties & {
  readonly kafkaTopic: string;
  /** `host:port`, comma-separated. */
  readonly kafkaBootstrapServers: string;
  readonly securityProtocol: (typeof securityProtocols)[number];
  readonly saslMechanism: (typeof saslMechanisms)[number];
  readonly saslJaasUsername: string | null;
  readonly saslJaasPassword: string | null;
};

export const kafkaProperties = {
  kafkaTopic: anyText,
  kafkaBootstrapServers: text('Comma-separated list of `host:port`.'),
  securityProtocol: optional(oneOf(securityProtocols)),
  saslMechanism: optional(oneOf(saslMechanisms)),
  saslJaasUsername: optionalText('Username. Required for SASL.'),
  saslJaasPassword: optionalText('Password. Required for SASL. Secret.'),
  ...tlsProperties,
};

export function parseKafka(sent: PropertyReader<keyof KafkaProperties>): KafkaProperties {
  const kafkaTopic = sent.needed('kafkaTopic');
  if (!/^[\w.-]{1,249}$/.test(kafkaTopic))
    sent.refuse('kafkaTopic', 'may contain only letters, digits, dots, hyphens, and underscores');
  const kafkaBootstrapServers = sent.needed('kafkaBootstrapServers');
  if (kafkaEndpoints(kafkaBootstrapServers) === undefined)
    sent.refuse('kafkaBootstrapServers', 'must be a comma-separated list of host:port');
  const securityProtocol = sent.oneOf('securityProtocol', securityProtocols, 'SASL_SSL');
  return {
    kafkaTopic,
    kafkaBootstrapServers,
    securityProtocol,
    saslMechanism: sent.oneOf('saslMechanism', saslMechanisms, 'PLAIN'),
    ...parseSaslUser(sent, securityProtocol),
    ...parseTls(sent),
  };
}

type SaslUser = {
  readonly saslJaasUsername: string | null;
  readonly saslJaasPassword: string | null;
};

function parseSaslUser(
  sent: PropertyReader<keyof SaslUser>,
  securityProtocol: KafkaProperties['securityProtocol'],
): SaslUser {
  if (securityProtocol.startsWith('SASL')) {
    const saslJaasUsername = sent.needed('saslJaasUsername');
    return { saslJaasUsername, saslJaasPassword: sent.needed('saslJaasPassword') };
  }
  const saslJaasUsername = sent.text('saslJaasUsername');
  return { saslJaasUsername, saslJaasPassword: sent.text('saslJaasPassword') };
}
