// Names that lead to forbidden addresses: found at the connection, for every connector with a host, and never tried again.
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { amazonKinesisConnector } from '../../src/connectors/amazon-kinesis/amazon-kinesis-sender.ts';
import { amqpConnector } from '../../src/connectors/amqp/amqp-sender.ts';
import { azureConnector } from '../../src/connectors/azure-event-hubs/azure-event-hubs-sender.ts';
import type { OutboundConnector } from '../../src/connectors/target.ts';
import { gcpConnector } from '../../src/connectors/gcp-pub-sub/gcp-pub-sub-sender.ts';
import { influxDbConnector } from '../../src/connectors/influx-db/influx-db-sender.ts';
import { kafkaConnector } from '../../src/connectors/kafka/kafka-sender.ts';
import { mqttConnector } from '../../src/connectors/mqtt/mqtt-sender.ts';
import { natsConnector } from '../../src/connectors/nats/nats-sender.ts';
import { sqlConnector } from '../../src/connectors/sql/sql-sender.ts';
import { createEgressGuard } from '../../src/egress/guard.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { trySend } from './messages.ts';
import { serverThat } from './unreachable.ts';

const tls = { caCertificate: null, clientCertificate: null, clientKey: null };
const user = { username: 'u', password: 'p', ...tls };
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const serviceAccountKey = JSON.stringify({
  client_email: 'a@b.iam.gserviceaccount.com',
  private_key_id: 'k',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
});
const kafka = {
  kafkaTopic: 't',
  saslMechanism: 'PLAIN',
  saslJaasUsername: 'u',
  saslJaasPassword: 'p',
  ...tls,
};
const sql = {
  ...user,
  schema: null,
  table: 't',
  columns: [{ column: 'c', path: 'topic', type: 'AUTO' }],
  ignoreDuplicates: true,
};
const arn = 'arn:aws:kinesis:eu-central-1:123456789012:stream/samples';

/** Connectors with a target at `at`, a host and port. */
const targets: readonly (readonly [string, OutboundConnector, (at: string) => JsonObject])[] = [
  [
    'MQTT',
    mqttConnector,
    (at) => ({
      uri: `mqtt://${at}`,
      protocolVersion: 'V5',
      clientId: null,
      topic: 't',
      qos: 1,
      retain: false,
      ...user,
    }),
  ],
  [
    'MQTT over TLS',
    mqttConnector,
    (at) => ({
      uri: `mqtts://${at}`,
      protocolVersion: 'V5',
      clientId: null,
      topic: 't',
      qos: 1,
      retain: false,
      ...user,
    }),
  ],
  [
    'AMQP',
    amqpConnector,
    (at) => ({
      uri: `amqp://${at}`,
      exchange: '',
      routingKey: 'q',
      persistent: true,
      mandatory: true,
      ...user,
    }),
  ],
  [
    'AMQP over TLS',
    amqpConnector,
    (at) => ({
      uri: `amqps://${at}`,
      exchange: '',
      routingKey: 'q',
      persistent: true,
      mandatory: true,
      ...user,
    }),
  ],
  [
    'NATS',
    natsConnector,
    (at) => ({
      uri: `nats://${at}`,
      token: null,
      credentials: null,
      subject: 's',
      jetStream: false,
      ...user,
    }),
  ],
  [
    'Kafka',
    kafkaConnector,
    (at) => ({ ...kafka, kafkaBootstrapServers: at, securityProtocol: 'PLAINTEXT' }),
  ],
  [
    'Kafka over TLS',
    kafkaConnector,
    (at) => ({ ...kafka, kafkaBootstrapServers: at, securityProtocol: 'SASL_SSL' }),
  ],
  [
    'InfluxDB',
    influxDbConnector,
    (at) => ({
      uri: `http://${at}`,
      version: 'V2',
      token: 't',
      orgId: 'o',
      bucket: 'b',
      measurementName: 'm',
      ...user,
    }),
  ],
  [
    'PostgreSQL',
    sqlConnector,
    (at) => ({ ...sql, jdbcUrl: `jdbc:postgresql://${at}/d`, tls: 'OFF' }),
  ],
  ['MariaDB', sqlConnector, (at) => ({ ...sql, jdbcUrl: `jdbc:mariadb://${at}/d`, tls: 'OFF' })],
  [
    'Event Hubs',
    azureConnector,
    (at) => ({
      connectionString: `Endpoint=sb://${at}/;SharedAccessKeyName=n;SharedAccessKey=k;EntityPath=h`,
    }),
  ],
  [
    'Pub/Sub',
    gcpConnector(undefined),
    (at) => ({
      pubSubTopic: 'projects/project/topics/samples',
      serviceAccountKey,
      endpoint: `https://${at}`,
    }),
  ],
  [
    'Kinesis',
    amazonKinesisConnector,
    (at) => ({
      iamAccessKeyId: 'a',
      iamSecretAccessKey: 's',
      kinesisArn: arn,
      endpoint: `https://${at}`,
    }),
  ],
];

describe('contract 35: every target again at each connection', () => {
  let internal: Awaited<ReturnType<typeof serverThat>>;
  let connections = 0;
  beforeAll(async () => {
    internal = await serverThat(() => {
      connections++;
    });
  });
  afterAll(() => internal.close());

  for (const [title, connector, propertiesAt] of targets) {
    test(`${title}: a name that passed before and leads inside now is refused for good`, async () => {
      const properties = propertiesAt(`rebound.example.com:${internal.port}`);
      const egress = createEgressGuard({
        allow: [],
        resolve: async () => [{ address: '127.0.0.1', family: 4 }],
      });
      connector.check?.(properties, egress);
      const target = connector.open(properties, egress, Date.now);
      const outcome = await trySend(target);
      expect(outcome).toMatchObject({
        ok: false,
        retry: false,
        reason: expect.stringContaining('may not be connected to'),
      });
      await target.close();
      await egress.close();
      expect(connections).toBe(0);
    });
  }
});
