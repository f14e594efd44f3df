// The Kafka output against a broker that reads its wire format: records, acknowledgements, SASL, TLS, guarded brokers.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { plainOptions, testServices } from '../testing-services.ts';
import { EgressGuard } from '../../egress/guard.ts';
import { kafka, type KafkaProperties } from './kafka.ts';
import { makeCertificate, type TestCertificate } from '../../../../tests/servers/certificate.ts';
import {
  type KafkaBroker,
  type KafkaOptions,
  startKafkaBroker,
} from '../../../../tests/servers/kafka-broker.ts';
import { closeTargets, message, targetOf, trySend } from '../testing-targets.ts';
import { bearsBadServers, serverThat } from '../../../../tests/connectors/unreachable.ts';

const plain = {
  kafkaTopic: 'samples',
  kafkaBootstrapServers: '',
  securityProtocol: 'PLAINTEXT',
  saslMechanism: 'PLAIN',
  saslJaasUsername: null,
  saslJaasPassword: null,
  caCertificate: null,
  clientCertificate: null,
  clientKey: null,
} satisfies KafkaProperties;

const known = { username: 'sender', password: 'right' };
const running: KafkaBroker[] = [];
let certificate: TestCertificate;
const folder = mkdtempSync(join(tmpdir(), 'heliograph-kafka-'));

beforeAll(async () => {
  certificate = await makeCertificate(folder);
});
afterEach(async () => {
  await closeTargets();
  await Promise.all(running.splice(0).map((broker) => broker.stop()));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function broker(options: KafkaOptions = {}): Promise<KafkaBroker> {
  const started = await startKafkaBroker(options);
  running.push(started);
  return started;
}

const at = (
  { port }: { readonly port: number },
  over: Partial<KafkaProperties> = {},
): KafkaProperties => ({
  ...plain,
  kafkaBootstrapServers: `127.0.0.1:${port}`,
  ...over,
});

describe('output to Kafka', () => {
  test('a record is written with key, headers and acks=all', async () => {
    const target = await broker();
    expect(await trySend(targetOf(kafka, at(target)))).toEqual({
      ok: true,
      answer: expect.stringMatching(/^written to partition \d of samples at offset 0$/),
    });
    expect(target.produced).toEqual([
      {
        topic: 'samples',
        partition: expect.any(Number),
        acks: -1,
        key: '0200000000000001',
        value: message().payload,
        headers: { deliveryId: 'delivery-1', contentType: 'application/json' },
      },
    ]);
  });

  test('records of one device go to one partition in their order, those of many devices to several', async () => {
    const started = await broker();
    const target = targetOf(kafka, at(started));
    for (let i = 0; i < 10; i++)
      expect(await trySend(target, message(`d-${i}`))).toMatchObject({ ok: true });
    expect(new Set(started.produced.map(({ partition }) => partition)).size).toBe(1);
    expect(started.produced.map(({ headers }) => headers['deliveryId'])).toEqual(
      Array.from({ length: 10 }, (_, i) => `d-${i}`),
    );
    const others = Array.from({ length: 30 }, (_, i) => ({
      ...message(),
      deviceId: `device-${i}`,
    }));
    await Promise.all(others.map((other) => trySend(target, other)));
    expect(new Set(started.produced.map(({ partition }) => partition)).size).toBeGreaterThan(1);
  });

  for (const mechanism of ['PLAIN', 'SCRAM-SHA-256'] as const) {
    test(`SASL with ${mechanism}: the right password is let in, a wrong one is not tried again`, async () => {
      const started = await broker({ sasl: { mechanism, ...known } });
      const over = {
        securityProtocol: 'SASL_PLAINTEXT',
        saslMechanism: mechanism,
        saslJaasUsername: 'sender',
      } as const;
      const right = at(started, { ...over, saslJaasPassword: 'right' });
      expect(await trySend(targetOf(kafka, right))).toMatchObject({ ok: true });
      const wrong = await trySend(targetOf(kafka, { ...right, saslJaasPassword: 'wrong' }));
      expect(wrong).toMatchObject({
        ok: false,
        retry: false,
        reason: expect.stringMatching(/authentication/i),
      });
      expect(started.produced).toHaveLength(1);
    });
  }

  test('over TLS with SASL the certificate must be of the given authority', async () => {
    const started = await broker({
      tls: certificate,
      sasl: { mechanism: 'PLAIN', ...known },
      advertised: { host: 'localhost' },
    });
    const secured: KafkaProperties = {
      ...plain,
      kafkaBootstrapServers: `localhost:${started.port}`,
      securityProtocol: 'SASL_SSL',
      saslJaasUsername: known.username,
      saslJaasPassword: known.password,
      caCertificate: certificate.cert,
    };
    expect(await trySend(targetOf(kafka, secured))).toMatchObject({ ok: true });
    const unknown = await trySend(targetOf(kafka, { ...secured, caCertificate: null }));
    expect(unknown).toMatchObject({
      ok: false,
      retry: true,
      reason: expect.stringContaining('self-signed'),
    });
  });

  for (const [name, code, retry] of [
    ['REQUEST_TIMED_OUT', 7, true],
    ['NOT_ENOUGH_REPLICAS', 19, true],
    ['MESSAGE_TOO_LARGE', 10, false],
    ['TOPIC_AUTHORIZATION_FAILED', 29, false],
  ] as const) {
    test(`contract 35: a broker that answers ${name} is ${retry ? '' : 'not '}asked again`, async () => {
      const started = await broker({ produceErrors: [code] });
      const target = targetOf(kafka, at(started));
      expect(await trySend(target)).toMatchObject({ ok: false, retry });
      expect(started.produced).toHaveLength(0);
      expect(await trySend(target)).toMatchObject({ ok: true });
    });
  }

  test('a new leader of a partition is found within the same try', async () => {
    const started = await broker({ produceErrors: [6] });
    expect(await trySend(targetOf(kafka, at(started)))).toMatchObject({ ok: true });
  });

  test('contract 35: a broker that the cluster advertises at a forbidden address is not connected to', async () => {
    const internal = await serverThat(() => {
      throw new Error('a forbidden address was connected to');
    });
    for (const advertised of [
      { host: '127.0.0.2', port: internal.port },
      { host: 'localhost', port: internal.port },
    ]) {
      const started = await broker({ advertised });
      const egress = new EgressGuard({
        allow: ['127.0.0.1/32'],
        resolve: () => Promise.resolve([{ address: '127.0.0.2', family: 4 }]),
      });
      const target = kafka.open(at(started), testServices(egress), plainOptions);
      const outcome = await trySend(target);
      expect(outcome).toMatchObject({
        ok: false,
        retry: false,
        reason: expect.stringContaining('are blocked'),
      });
      await target.close();
    }
    await internal.close();
  });

  test('security 9: over TLS too, a broker from metadata is judged by the address that is connected to', async () => {
    const internal = await serverThat(() => {
      throw new Error('a forbidden address was connected to');
    });
    const secured = { securityProtocol: 'SSL', caCertificate: certificate.cert } as const;
    for (const host of ['127.0.0.2', 'broker.example.com', '127.2', '2130706434']) {
      const started = await broker({ tls: certificate, advertised: { host, port: internal.port } });
      const egress = new EgressGuard({
        allow: ['127.0.0.1/32'],
        // The bootstrap server is allowed, and every other name leads to the forbidden address.
        resolve: (name) =>
          Promise.resolve([
            { address: name === 'localhost' ? '127.0.0.1' : '127.0.0.2', family: 4 },
          ]),
      });
      const bootstrap = `localhost:${started.port}`;
      const properties = { ...at(started), ...secured, kafkaBootstrapServers: bootstrap };
      const target = kafka.open(properties, testServices(egress), plainOptions);
      expect(await trySend(target), host).toMatchObject({
        ok: false,
        retry: false,
        reason: expect.stringContaining('are blocked'),
      });
      expect(started.produced).toEqual([]);
      await target.close();
    }
    await internal.close();
  });

  // A broker behind the relay calls itself by the port of the relay.
  const advertised = { host: '127.0.0.1', port: 0 };
  let behindRelay: KafkaBroker | undefined;
  beforeAll(async () => {
    behindRelay = await startKafkaBroker({ advertised });
  });
  afterAll(() => behindRelay?.stop());
  bearsBadServers(
    (port) => targetOf(kafka, at({ port })),
    () => behindRelay?.port ?? 0,
    (port) => {
      advertised.port = port;
    },
  );
});
