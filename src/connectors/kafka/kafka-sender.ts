// Output to Kafka: one record a delivery, keyed by device so that order is kept, delivered once all in-sync replicas have it.
import type * as KafkaModule from '@platformatic/kafka';
import type { EgressGuard } from '../../egress/guard.ts';
import { kafkaBrokers } from '../target-address.ts';
import type { KafkaProperties } from '../../model/target-properties.ts';
import type { OutboundConnector, OutboundMessage } from '../target.ts';
import { checkTarget, tlsMaterial } from '../guarded-socket.ts';
import { guardBrokers, haveNames } from './guarded-brokers.ts';
import { type ConnectionKind, keptConnection } from '../shared-connection.ts';
import { attempt, PermanentRefusal } from '../send-failure.ts';

const connectTimeoutMs = 8_000;
const requestTimeoutMs = 9_000;
const acknowledgeTimeoutMs = 8_000;

/** Answers of a broker that another try would meet again. */
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

type Kafka = typeof KafkaModule;
type StringProducer = KafkaModule.Producer<string, string, string, string>;

interface Connection {
  readonly kafka: Kafka;
  readonly producer: StringProducer;
}

export const kafkaConnector: OutboundConnector = {
  type: 'KAFKA',
  check(properties, egress) {
    const { kafkaBootstrapServers } = properties as unknown as KafkaProperties;
    const where = 'kafkaProperties.kafkaBootstrapServers';
    for (const broker of kafkaBrokers(kafkaBootstrapServers) ?? [undefined])
      checkTarget(egress, broker, where);
  },
  open(properties, egress) {
    const settings = properties as unknown as KafkaProperties;
    const connection = keptConnection(producerKind(settings, egress));
    return {
      send(message, signal) {
        return attempt(signal, () =>
          connection.use(signal, (opened) => produce(opened, message, settings.kafkaTopic)),
        );
      },
      close: () => connection.close(),
    };
  },
};

async function produce(
  { kafka, producer }: Connection,
  message: OutboundMessage,
  topic: string,
): Promise<string> {
  const { deliveryId, contentType, deviceId: key, payload: value } = message;
  try {
    const headers = { deliveryId, contentType };
    const { offsets } = await producer.send({
      messages: [{ topic, key, value, headers }],
      acks: kafka.ProduceAcks.ALL,
      autocreateTopics: true,
    });
    const [written] = offsets ?? [];
    return `written to partition ${written?.partition} of ${topic} at offset ${written?.offset}`;
  } catch (thrown) {
    const error = thrown as Error;
    // The cluster may have changed since it was asked for its brokers.
    producer.clearMetadata();
    const isPermanent = [...errorsIn(error)].some(({ apiId = '' }) => permanentErrors.has(apiId));
    throw isPermanent ? new PermanentRefusal('the broker refused', { cause: error }) : error;
  }
}

/** An error with everything that caused it; what a broker answered has an `apiId`. */
function* errorsIn(error: unknown): Generator<Error & { readonly apiId?: string }> {
  if (!(error instanceof Error)) return;
  yield error;
  if (error.cause !== undefined) yield* errorsIn(error.cause);
  for (const each of error instanceof AggregateError ? error.errors : []) yield* errorsIn(each);
}

function producerKind(settings: KafkaProperties, egress: EgressGuard): ConnectionKind<Connection> {
  return {
    async open() {
      const kafka = await import('@platformatic/kafka');
      const brokers = kafkaBrokers(settings.kafkaBootstrapServers);
      if (brokers === undefined) throw new PermanentRefusal('the bootstrap servers cannot be read');
      const isTls = settings.securityProtocol.endsWith('SSL');
      const producer: StringProducer = new kafka.Producer({
        clientId: 'heliograph',
        bootstrapBrokers: brokers.map(({ host, port }) => ({ host, port })),
        serializers: kafka.stringSerializers,
        connectTimeout: connectTimeoutMs,
        requestTimeout: requestTimeoutMs,
        timeout: acknowledgeTimeoutMs,
        // A delivery has tries of its own.
        retries: 0,
        ...(isTls ? tlsOptions(settings, brokers, egress) : {}),
        ...(settings.securityProtocol.startsWith('SASL') ? { sasl: saslOf(settings) } : {}),
      });
      const failure = (message: string, cause: Error) =>
        new kafka.NetworkError(message, { cause, canRetry: false });
      guardBrokers(producer.connections, egress, isTls, failure);
      return { kafka, producer };
    },
    close: ({ producer }) => producer.close(),
    abandon({ producer }) {
      for (const [, connection] of producer.connections) connection.socket?.destroy();
      producer.close().catch(() => undefined);
    },
  };
}

function tlsOptions(
  settings: KafkaProperties,
  brokers: readonly { readonly host: string }[],
  egress: EgressGuard,
) {
  const { servername: _, ...material } = tlsMaterial(settings, brokers[0]?.host ?? '');
  return { tls: { ...material, lookup: egress.lookup }, tlsServerName: haveNames(brokers) };
}

function saslOf({ saslMechanism, saslJaasUsername, saslJaasPassword }: KafkaProperties) {
  return {
    mechanism: saslMechanism,
    username: saslJaasUsername ?? '',
    password: saslJaasPassword ?? '',
  };
}
