// Names that lead to forbidden addresses: found at the connection, for every connector with a host, and never tried again.
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { amazonKinesis } from '../../src/outputs/connectors/amazon-kinesis/amazon-kinesis.ts';
import { amqp } from '../../src/outputs/connectors/amqp/amqp.ts';
import { azureEventHubs } from '../../src/outputs/connectors/azure-event-hubs/azure-event-hubs.ts';
import type { ConnectorType } from '../../src/outputs/connectors/connector-type.ts';
import { gcpPubSub } from '../../src/outputs/connectors/gcp-pub-sub/gcp-pub-sub.ts';
import { influxDb } from '../../src/outputs/connectors/influx-db/influx-db.ts';
import { kafka } from '../../src/outputs/connectors/kafka/kafka.ts';
import { mqtt } from '../../src/outputs/connectors/mqtt/mqtt.ts';
import { nats } from '../../src/outputs/connectors/nats/nats.ts';
import { sql } from '../../src/outputs/connectors/sql/sql.ts';
import { plainOptions, testServices } from '../../src/outputs/connectors/testing-services.ts';
import { EgressGuard } from '../../src/outputs/egress/guard.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { trySend } from '../../src/outputs/connectors/testing-targets.ts';
import { serverThat } from './unreachable.ts';

const tls = { caCertificate: null, clientCertificate: null, clientKey: null };
const user = { username: 'u', password: 'p', ...tls };
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const serviceAccountKey = JSON.stringify({
  client_email: 'a@b.iam.gserviceaccount.com',
  private_key_id: 'k',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
});
const kafkaProperties = {
  kafkaTopic: 't',
  saslMechanism: 'PLAIN',
  saslJaasUsername: 'u',
  saslJaasPassword: 'p',
  ...tls,
};
const sqlProperties = {
  ...user,
  schema: null,
  table: 't',
  columns: [{ column: 'c', path: 'topic', type: 'AUTO' }],
  ignoreDuplicates: true,
};
const arn = 'arn:aws:kinesis:eu-central-1:123456789012:stream/samples';

/** Connectors with a target at `at`, a host and port. */
const targets: readonly (readonly [string, ConnectorType, (at: string) => JsonObject])[] = [
  [
    'MQTT',
    mqtt,
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
    mqtt,
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
    amqp,
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
    amqp,
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
    nats,
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
    kafka,
    (at) => ({ ...kafkaProperties, kafkaBootstrapServers: at, securityProtocol: 'PLAINTEXT' }),
  ],
  [
    'Kafka over TLS',
    kafka,
    (at) => ({ ...kafkaProperties, kafkaBootstrapServers: at, securityProtocol: 'SASL_SSL' }),
  ],
  [
    'InfluxDB',
    influxDb,
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
    sql,
    (at) => ({ ...sqlProperties, jdbcUrl: `jdbc:postgresql://${at}/d`, tls: 'OFF' }),
  ],
  ['MariaDB', sql, (at) => ({ ...sqlProperties, jdbcUrl: `jdbc:mariadb://${at}/d`, tls: 'OFF' })],
  [
    'Event Hubs',
    azureEventHubs,
    (at) => ({
      connectionString: `Endpoint=sb://${at}/;SharedAccessKeyName=n;SharedAccessKey=k;EntityPath=h`,
    }),
  ],
  [
    'Pub/Sub',
    gcpPubSub,
    (at) => ({
      pubSubTopic: 'projects/project/topics/samples',
      serviceAccountKey,
      endpoint: `https://${at}`,
    }),
  ],
  [
    'Kinesis',
    amazonKinesis,
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
    test(`${title}: a name that passed before and leads inside now fails permanently`, async () => {
      const properties = propertiesAt(`rebound.example.com:${internal.port}`);
      const egress = new EgressGuard({
        allow: [],
        resolve: async () => [{ address: '127.0.0.1', family: 4 }],
      });
      const services = testServices(egress);
      connector.check(properties, services);
      const target = connector.open(properties, services, plainOptions);
      const outcome = await trySend(target);
      expect(outcome).toMatchObject({
        ok: false,
        retry: false,
        reason: expect.stringContaining('are blocked'),
      });
      await target.close();
      await egress.close();
      expect(connections).toBe(0);
    });
  }
});
