// Kafka: one record per delivery (contract 9).
import { isIP } from 'node:net';
import type {
  Broker,
  Connection,
  ConnectionPool,
  NetworkError,
  Producer as KafkaProducer,
} from '@platformatic/kafka';
import type { Json } from '../../../model/json.ts';
import { connectorType } from '../connector-type.ts';
import type { OutboundMessage, Target } from '../target.ts';
import {
  anyText,
  oneOf,
  optional,
  optionalText,
  parseTls,
  type PropertyReader,
  text,
  tlsProperties,
  type TlsProperties,
} from '../properties.ts';
import { type Endpoint, targetUri } from '../target-uri.ts';
import type { EgressGuard } from '../../egress/guard.ts';
import { guardedAddress, tlsMaterial } from '../guarded-socket.ts';
import { attempt, PermanentRefusal } from '../send-failure.ts';
import { type ConnectionKind, SharedConnection } from '../shared-connection.ts';

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

const kafkaProperties = {
  kafkaTopic: anyText,
  kafkaBootstrapServers: text('Comma-separated list of `host:port`.'),
  securityProtocol: optional(oneOf(securityProtocols)),
  saslMechanism: optional(oneOf(saslMechanisms)),
  saslJaasUsername: optionalText('Username. Required for SASL.'),
  saslJaasPassword: optionalText('Password. Required for SASL. Secret.'),
  ...tlsProperties,
};

function parseKafka(sent: PropertyReader<keyof KafkaProperties>): KafkaProperties {
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
  open: (properties, { egress }) => createKafkaTarget(properties, egress),
});

// A delivery: one record, with the device as key, confirmed by all in-sync replicas.

const connectTimeoutMs = 8_000;
const requestTimeoutMs = 9_000;
const acknowledgeTimeoutMs = 8_000;
/** All in-sync replicas confirm a record. */
const allReplicas = -1;

/** Answers of a broker that a retry would receive again. */
const permanentErrors: ReadonlySet<string> = new Set([
  'SASL_AUTHENTICATION_FAILED',
  'UNSUPPORTED_SASL_MECHANISM',
  'TOPIC_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'INVALID_TOPIC_EXCEPTION',
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'POLICY_VIOLATION',
]);

type Producer = KafkaProducer<string, string, string, string>;

function createKafkaTarget(properties: KafkaProperties, egress: EgressGuard): Target {
  const connection = new SharedConnection(producerKind(properties, egress));
  const { kafkaTopic } = properties;
  return {
    send: (message, signal) =>
      attempt(signal, () =>
        connection.use(signal, (producer) => produce(producer, message, kafkaTopic)),
      ),
    close: () => connection.close(),
  };
}

async function produce(
  producer: Producer,
  message: OutboundMessage,
  topic: string,
): Promise<string> {
  const { deliveryId, contentType, deviceId: key, payload: value } = message;
  try {
    const headers = { deliveryId, contentType };
    const { offsets } = await producer.send({
      messages: [{ topic, key, value, headers }],
      acks: allReplicas,
      autocreateTopics: true,
    });
    const [written] = offsets ?? [];
    return `written to partition ${written?.partition} of ${topic} at offset ${written?.offset}`;
  } catch (thrown) {
    const error = thrown as Error;
    // The cluster may have other brokers by now.
    producer.clearMetadata();
    const isPermanent = [...errorsIn(error)].some(({ apiId = '' }) => permanentErrors.has(apiId));
    if (isPermanent)
      throw new PermanentRefusal('the broker rejected the message', { cause: error });
    throw error;
  }
}

/** An error with everything that caused it; what a broker answered has an `apiId`. */
function* errorsIn(error: unknown): Generator<Error & { readonly apiId?: string }> {
  if (!(error instanceof Error)) return;
  yield error;
  if (error.cause !== undefined) yield* errorsIn(error.cause);
  if (error instanceof AggregateError) for (const each of error.errors) yield* errorsIn(each);
}

function producerKind(properties: KafkaProperties, egress: EgressGuard): ConnectionKind<Producer> {
  return {
    async open() {
      const client = await import('@platformatic/kafka');
      const brokers = kafkaEndpoints(properties.kafkaBootstrapServers);
      if (brokers === undefined) throw new PermanentRefusal('the bootstrap servers are not valid');
      const { securityProtocol } = properties;
      const isTls = securityProtocol.endsWith('SSL');
      const producer: Producer = new client.Producer({
        clientId: 'heliograph',
        bootstrapBrokers: [...brokers],
        serializers: client.stringSerializers,
        connectTimeout: connectTimeoutMs,
        requestTimeout: requestTimeoutMs,
        timeout: acknowledgeTimeoutMs,
        // The delivery worker retries.
        retries: 0,
        ...(isTls && tlsOptions(properties, brokers, egress)),
        ...(securityProtocol.startsWith('SASL') && { sasl: saslOf(properties) }),
      });
      const failure = (message: string, cause: Error) =>
        new client.NetworkError(message, { cause, canRetry: false });
      guardBrokers(producer.connections, egress, isTls, failure);
      return producer;
    },
    close: (producer) => producer.close(),
    destroy(producer) {
      for (const [, connection] of producer.connections) connection.socket?.destroy();
      producer.close().catch(() => undefined);
    },
  };
}

function tlsOptions(
  properties: KafkaProperties,
  brokers: readonly Endpoint[],
  egress: EgressGuard,
) {
  const { servername: _, ...material } = tlsMaterial(properties, brokers[0]?.host ?? '');
  return { tls: { ...material, lookup: egress.lookup }, tlsServerName: haveNames(brokers) };
}

function saslOf({ saslMechanism, saslJaasUsername, saslJaasPassword }: KafkaProperties) {
  return {
    mechanism: saslMechanism,
    username: saslJaasUsername ?? '',
    password: saslJaasPassword ?? '',
  };
}

// Guarded brokers: a Kafka cluster names its brokers itself, so each one passes the egress guard before a connection.

type Callback = (error: Error | null, connection: Connection) => void;

/**
 * Makes a pool connect to checked addresses alone. Without TLS the name of a broker is replaced by
 * an address that was checked; with it the name is needed for the certificate, and the guard's own
 * lookup, given with the TLS options, checks it at the connection.
 */
function guardBrokers(
  pool: ConnectionPool,
  egress: EgressGuard,
  isTls: boolean,
  failure: (message: string, cause: Error) => NetworkError,
): void {
  const connect = pool.get.bind(pool) as (broker: Broker, callback: Callback) => void;
  const checked = async (broker: Broker): Promise<Broker> => {
    if (!isTls) return { ...broker, host: await guardedAddress(egress, broker.host) };
    egress.checkLiteral(broker.host);
    return broker;
  };
  const get = (broker: Broker | undefined, callback: Callback): void => {
    // The pool has its own answer to a broker that the cluster does not know.
    if (typeof broker?.host !== 'string') return connect(broker as unknown as Broker, callback);
    const refuse = (error: Error): void =>
      callback(
        failure(`connection to broker ${broker.host} is not allowed`, error),
        undefined as never,
      );
    checked(broker).then((allowed) => connect(allowed, callback), refuse);
  };
  pool.get = get as ConnectionPool['get'];
}

/** Whether certificates are asked for by name; an address is no server name. */
function haveNames(brokers: readonly { readonly host: string }[]): boolean {
  return brokers.every(({ host }) => isIP(host) === 0);
}
