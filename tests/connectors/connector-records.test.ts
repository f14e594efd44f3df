// Records of outputs to brokers, databases and clouds over the API: checks, masks, forbidden hosts, and a whole delivery.
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectAsync } from 'mqtt';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCertificate, type TestCertificate } from '../servers/certificate.ts';
import { mosquitto, startMosquitto } from '../servers/mosquitto.ts';
import { describeWith, startedBefore } from '../servers/server-tests.ts';
import { startWorld, type World } from '../world/world.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const serviceAccountKey = JSON.stringify({
  client_email: 'sender@project.iam.gserviceaccount.com',
  private_key_id: 'key-1',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
});
const folder = mkdtempSync(join(tmpdir(), 'heliograph-records-'));
const pem: TestCertificate = await makeCertificate(folder);

interface Kind {
  readonly type: string;
  readonly member: string;
  /** Complete properties, with a host that its name permits. */
  readonly good: Readonly<Record<string, unknown>>;
  /** Members read as masks. */
  readonly secrets: readonly string[];
  /** The same properties with a forbidden host. */
  readonly forbidden: (host: string) => Readonly<Record<string, unknown>>;
  /** Changes that are refused, and the member that the refusal names. */
  readonly bad: readonly (readonly [Readonly<Record<string, unknown>>, string])[];
}

const tls = { caCertificate: pem.cert, clientCertificate: pem.cert, clientKey: pem.key };
const badTls = [
  [{ caCertificate: 'none' }, 'caCertificate'],
  [{ clientKey: 'none' }, 'clientKey'],
  [{ clientKey: null }, 'clientKey'],
] as const;
const user = { username: 'u', password: 'p' };
const sql = { table: 't', columns: [{ column: 'c', path: 'data.temperature' }] };
const connectionString = (host: string) =>
  `Endpoint=sb://${host}/;SharedAccessKeyName=n;SharedAccessKey=k;EntityPath=hub`;

const kinds: readonly Kind[] = [
  {
    type: 'MQTT',
    member: 'mqttProperties',
    good: { uri: 'mqtts://broker.example.com', topic: 'a/{{deviceId}}', ...user, ...tls },
    secrets: ['password', 'clientKey'],
    forbidden: (host) => ({ uri: `mqtt://${host}:1883` }),
    bad: [
      [{ uri: 'http://broker.example.com' }, 'uri'],
      [{ uri: 'mqtt://u:p@broker.example.com' }, 'uri'],
      [{ topic: null }, 'topic'],
      [{ topic: '{{nothing.known}}' }, 'topic'],
      [{ qos: 0 }, 'qos'],
      [{ username: null }, 'username'],
      ...badTls,
    ],
  },
  {
    type: 'AMQP',
    member: 'amqpProperties',
    good: { uri: 'amqps://broker.example.com/vhost', routingKey: 'queue', ...user, ...tls },
    secrets: ['password', 'clientKey'],
    forbidden: (host) => ({ uri: `amqp://${host}` }),
    bad: [
      [{ uri: 'mqtt://broker.example.com' }, 'uri'],
      [{ routingKey: '' }, 'routingKey'],
      [{ routingKey: '{{deviceId' }, 'routingKey'],
      [{ exchange: 'x'.repeat(256) }, 'exchange'],
    ],
  },
  {
    type: 'NATS',
    member: 'natsProperties',
    good: { uri: 'tls://nats.example.com', subject: 'a.{{topic}}', token: 't', ...user, ...tls },
    secrets: ['password', 'token', 'clientKey'],
    forbidden: (host) => ({ uri: `nats://${host}:4222` }),
    bad: [
      [{ uri: 'nats://nats.example.com/path' }, 'uri'],
      [{ subject: '' }, 'subject'],
      [{ credentials: 'none' }, 'credentials'],
      [{ jetStream: 'yes' }, 'jetStream'],
    ],
  },
  {
    type: 'KAFKA',
    member: 'kafkaProperties',
    good: {
      kafkaTopic: 'samples',
      kafkaBootstrapServers: 'a.example.com:9092,b.example.com:9093',
      securityProtocol: 'SASL_SSL',
      saslMechanism: 'PLAIN',
      saslJaasUsername: 'u',
      saslJaasPassword: 'p',
    },
    secrets: ['saslJaasPassword'],
    forbidden: (host) => ({ kafkaBootstrapServers: `a.example.com:9092,${host}:9092` }),
    bad: [
      [{ kafkaTopic: 'a b' }, 'kafkaTopic'],
      [{ kafkaBootstrapServers: 'a/b' }, 'kafkaBootstrapServers'],
      [{ saslJaasPassword: null }, 'saslJaasPassword'],
      [{ saslMechanism: 'GSSAPI' }, 'saslMechanism'],
    ],
  },
  {
    type: 'INFLUX_DB',
    member: 'influxProperties',
    good: {
      uri: 'https://influx.example.com',
      token: 't',
      orgId: 'o',
      bucket: 'b',
      measurementName: 'm',
    },
    secrets: ['token'],
    forbidden: (host) => ({ uri: `http://${host}:8086` }),
    bad: [
      [{ uri: 'ftp://influx.example.com' }, 'uri'],
      [{ token: null }, 'token'],
      [{ token: 'a\nb' }, 'token'],
      [{ measurementName: '' }, 'measurementName'],
      [{ measurementName: '#m' }, 'measurementName'],
      [{ version: 'V3' }, 'version'],
    ],
  },
  {
    type: 'SQL',
    member: 'sqlProperties',
    good: { jdbcUrl: 'jdbc:postgresql://db.example.com/samples', ...user, ...sql, ...tls },
    secrets: ['password', 'clientKey'],
    forbidden: (host) => ({ jdbcUrl: `jdbc:mariadb://${host}:3306/samples` }),
    bad: [
      [{ jdbcUrl: 'jdbc:oracle://db.example.com/samples' }, 'jdbcUrl'],
      [{ jdbcUrl: 'jdbc:postgresql://db.example.com/samples?ssl=false' }, 'jdbcUrl'],
      [{ columns: [] }, 'columns'],
      [{ columns: [...sql.columns, ...sql.columns] }, 'columns.1.column'],
      [{ columns: [{ column: 'c', path: 'nothing.known' }] }, 'columns.0.path'],
      [{ columns: [{ column: 'x'.repeat(64), path: 'data' }] }, 'columns.0.column'],
      [{ table: 'a\u0000b' }, 'table'],
      [{ password: null }, 'password'],
    ],
  },
  {
    type: 'AZURE',
    member: 'azureProperties',
    good: { connectionString: connectionString('hub.servicebus.windows.net') },
    secrets: ['connectionString'],
    forbidden: (host) => ({ connectionString: connectionString(host) }),
    bad: [[{ connectionString: 'Endpoint=sb://hub.servicebus.windows.net/' }, 'connectionString']],
  },
  {
    type: 'GCP',
    member: 'gcpProperties',
    good: { pubSubTopic: 'projects/project/topics/samples', serviceAccountKey },
    secrets: ['serviceAccountKey'],
    forbidden: (host) => ({ endpoint: `https://${host}` }),
    bad: [
      [{ pubSubTopic: 'samples' }, 'pubSubTopic'],
      [{ serviceAccountKey: '{}' }, 'serviceAccountKey'],
      [{ endpoint: 'no' }, 'endpoint'],
    ],
  },
  {
    type: 'AMAZON_KINESIS',
    member: 'amazonKinesisProperties',
    good: {
      iamAccessKeyId: 'AKIDEXAMPLE123456',
      iamSecretAccessKey: 's',
      kinesisArn: 'arn:aws:kinesis:eu-central-1:123456789012:stream/samples',
    },
    secrets: ['iamSecretAccessKey'],
    forbidden: (host) => ({ endpoint: `https://${host}` }),
    bad: [
      [{ kinesisArn: 'arn:aws:s3:::samples' }, 'kinesisArn'],
      [{ iamSecretAccessKey: '' }, 'iamSecretAccessKey'],
      [{ iamAccessKeyId: 'a b' }, 'iamAccessKeyId'],
    ],
  },
];

/** Ways to write this machine, the network's own services and private networks. */
const forbiddenHosts = [
  '127.0.0.1',
  '169.254.169.254',
  '10.0.0.1',
  '2130706433',
  '0x7f.1',
  '[::1]',
  '[::ffff:10.0.0.1]',
  'localhost',
];

describe('records of outputs to brokers, databases and clouds', () => {
  let at: World;
  beforeAll(async () => {
    at = await startWorld();
  });
  afterAll(async () => {
    await at.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const create = ({ type, member }: Kind, properties: unknown) =>
    at.call('POST', '/v3/output-connectors', {
      name: type,
      workspaceId: at.workspaceId,
      type,
      [member]: properties,
    });

  for (const kind of kinds) {
    const { type, member, good, secrets, bad } = kind;

    test(`contract 9, 35: ${type} is created, its secrets are masked, kept by a mask, and in no answer`, async () => {
      const made = await create(kind, good);
      expect(made.status, JSON.stringify(made.body)).toBe(201);
      const shown = made.body[member];
      for (const secret of secrets) expect(shown[secret], secret).toBe('********');
      const others = Object.keys(made.body).filter(
        (name) => name.endsWith('Properties') && name !== member,
      );
      expect(others.length).toBeGreaterThan(14);
      for (const name of others) expect(made.body[name], name).toBeNull();
      const path = `/v3/output-connectors/${made.body.id}`;
      const put = await at.call('PUT', path, {
        id: made.body.id,
        name: 'renamed',
        [member]: shown,
      });
      expect(put.status, JSON.stringify(put.body)).toBe(200);
      expect(put.body[member]).toEqual(shown);
      await at.must('DELETE', path);
    });

    test(`contract 35: ${type} with a forbidden literal host is rejected at creation`, async () => {
      for (const host of forbiddenHosts) {
        const refused = await create(kind, { ...good, ...kind.forbidden(host) });
        expect([host, refused.status], JSON.stringify(refused.body)).toEqual([host, 400]);
      }
    });

    test(`contract 0.2: ${type} that cannot work is a 400 that names the member`, async () => {
      for (const [change, named] of bad) {
        const refused = await create(kind, { ...good, ...change });
        expect([refused.status, refused.body.message], JSON.stringify(change)).toEqual([
          400,
          expect.stringContaining(`${member}.${named}`),
        ]);
      }
      expect(await create(kind, null)).toMatchObject({ status: 400 });
    });
  }
});

describeWith(mosquitto, 'a sample on its way to an MQTT broker', () => {
  const broker = startedBefore(startMosquitto);
  let at: World;
  beforeAll(async () => {
    at = await startWorld({ environment: { EGRESS_ALLOW: '127.0.0.0/8' } });
  });
  afterAll(() => at.close());

  test('contract 9: it is published with the custom payload of the connector', async () => {
    const { port, username, password } = broker();
    const listener = await connectAsync(`mqtt://127.0.0.1:${port}`, { username, password });
    const heard = new Promise<readonly [string, string]>((resolve) => {
      listener.on('message', (topic, payload) => resolve([topic, payload.toString()]));
    });
    await listener.subscribeAsync('out/#', { qos: 1 });
    const output = await at.must('POST', '/v3/output-connectors', {
      name: 'broker',
      workspaceId: at.workspaceId,
      type: 'MQTT',
      mqttProperties: {
        uri: `mqtt://127.0.0.1:${port}`,
        topic: 'out/{{deviceId}}/{{topic}}',
        username,
        password,
      },
      useCustomPayload: true,
      customPayload: '{"warm": {{data.temperature}}}',
    });
    const device = await at.device({ outputs: [{ id: output.id, topic: '*' }] });
    await at.capture(device, { temperature: 21.5 });
    expect(await heard).toEqual([`out/${device.deviceId}/default`, '{"warm": 21.5}']);
    await listener.endAsync();
  });
});
