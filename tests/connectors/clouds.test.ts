// Outputs to Kinesis, Event Hubs and Pub/Sub against HTTPS servers that check every signature for themselves.
import { createHash, createHmac, createVerify, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { amazonKinesis } from '../../src/outputs/connectors/amazon-kinesis/amazon-kinesis.ts';
import { azureEventHubs } from '../../src/outputs/connectors/azure-event-hubs/azure-event-hubs.ts';
import type { ConnectorType } from '../../src/outputs/connectors/connector-type.ts';
import { gcpPubSub } from '../../src/outputs/connectors/gcp-pub-sub/gcp-pub-sub.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { makeCertificate, type TestCertificate } from '../servers/certificate.ts';
import {
  type HeardRequest,
  type HttpsAnswer,
  type HttpsServer,
  startHttpsServer,
} from '../servers/https-server.ts';
import {
  closeTargets,
  localEgress,
  message,
  targetOf,
  trySend,
} from '../../src/outputs/connectors/testing-targets.ts';

const folder = mkdtempSync(join(tmpdir(), 'heliograph-clouds-'));
const running: HttpsServer[] = [];
let certificate: TestCertificate;

beforeAll(async () => {
  certificate = await makeCertificate(folder);
});
afterEach(async () => {
  await closeTargets();
  await Promise.all(running.splice(0).map((server) => server.stop()));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function serving(
  answer: (request: HeardRequest) => HttpsAnswer | undefined,
): Promise<HttpsServer> {
  const server = await startHttpsServer(certificate, answer);
  running.push(server);
  return server;
}

/** A target that trusts the servers of these tests. */
const trusting = (connector: ConnectorType, properties: JsonObject) =>
  targetOf(connector, properties, localEgress({ ca: certificate.cert }));

interface Cloud {
  readonly connector: ConnectorType;
  readonly propertiesAt: (port: number) => JsonObject;
  /** Errors of the service: status, body, and whether the delivery is retried. */
  readonly refusals: readonly (readonly [number, string, boolean | 'HOURS'])[];
}

/** What holds for each of them. */
function bearsRefusals({ connector, propertiesAt, refusals }: Cloud): void {
  for (const [status, body, retry] of refusals) {
    test(`contract 35: an answer ${status} ${body} is ${retry ? '' : 'not '}tried again`, async () => {
      const { port } = await serving(() => ({
        status,
        body,
        headers: status === 429 ? { 'retry-after': '3' } : {},
      }));
      const outcome = await trySend(trusting(connector, propertiesAt(port)));
      const pause = status === 429 ? { retryAfterMs: 3_000 } : {};
      expect(outcome).toMatchObject({
        ok: false,
        retry,
        answer: expect.stringContaining(body),
        ...pause,
      });
    });
  }

  test('contract 35: a service that never answers is left after the time limit, and tried again', async () => {
    const { port } = await serving(() => undefined);
    const outcome = await trySend(trusting(connector, propertiesAt(port)), message(), 200);
    expect(outcome).toMatchObject({ ok: false, retry: true });
  });

  test('a certificate of another authority is not accepted', async () => {
    const server = await serving(() => ({ status: 200 }));
    const outcome = await trySend(targetOf(connector, propertiesAt(server.port)));
    expect(outcome).toMatchObject({
      ok: false,
      retry: true,
      reason: expect.stringContaining('self-signed'),
    });
    expect(server.heard).toHaveLength(0);
  });
}

describe('output to Amazon Kinesis', () => {
  const secret = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
  const kinesisArn = 'arn:aws:kinesis:eu-central-1:123456789012:stream/samples';
  const propertiesAt = (port: number) => ({
    iamAccessKeyId: 'AKIDEXAMPLE',
    iamSecretAccessKey: secret,
    kinesisArn,
    endpoint: `https://localhost:${port}`,
  });

  test('a record is put with the payload, keyed by device, and a signature that holds', async () => {
    const answer = '{"SequenceNumber":"1","ShardId":"shardId-0"}';
    const server = await serving(() => ({ status: 200, body: answer }));
    const outcome = await trySend(trusting(amazonKinesis, propertiesAt(server.port)));
    expect(outcome).toMatchObject({ ok: true, answer: expect.stringContaining(answer) });
    const [request] = server.heard;
    if (request === undefined) throw new Error('nothing was sent');
    expect(request.headers).toMatchObject({
      'x-amz-target': 'Kinesis_20131202.PutRecord',
      'content-type': 'application/x-amz-json-1.1',
      authorization: signatureV4(request, secret),
    });
    const { StreamARN, PartitionKey, Data } = JSON.parse(request.body);
    expect({ StreamARN, PartitionKey }).toEqual({
      StreamARN: kinesisArn,
      PartitionKey: '0200000000000001',
    });
    expect(Buffer.from(Data, 'base64').toString()).toBe(message().payload);
    expect(Math.abs(amzDate(request) - Date.now())).toBeLessThan(60_000);
  });

  bearsRefusals({
    connector: amazonKinesis,
    propertiesAt,
    refusals: [
      [400, '{"__type":"ProvisionedThroughputExceededException"}', true],
      [400, '{"__type":"KMSThrottlingException"}', true],
      [400, '{"__type":"ResourceNotFoundException"}', false],
      [400, '{"__type":"UnrecognizedClientException"}', false],
      [400, '{"__type":"AccessDeniedException"}', false],
      [500, '{"__type":"InternalFailure"}', true],
      [429, 'slow down', true],
    ],
  });
});

/** Signature Version 4 as its specification says it, for a request without a query. */
function signatureV4({ method, path, headers, body }: HeardRequest, secret: string): string {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const hmac = (key: string | Buffer, text: string) =>
    createHmac('sha256', key).update(text).digest();
  const date = String(headers['x-amz-date']);
  const signed = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1] ?? '';
  for (const name of ['host', 'x-amz-date', 'x-amz-target', 'content-type'])
    expect(signed.split(';')).toContain(name);
  const lines = signed.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = [method, path, '', lines.join(''), signed, sha256(body)].join('\n');
  const scope = `${date.slice(0, 8)}/eu-central-1/kinesis/aws4_request`;
  const key = scope
    .split('/')
    .reduce<string | Buffer>((previous, part) => hmac(previous, part), `AWS4${secret}`);
  const signature = hmac(
    key,
    ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n'),
  ).toString('hex');
  return `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/${scope}, SignedHeaders=${signed}, Signature=${signature}`;
}

function amzDate({ headers }: HeardRequest): number {
  return Date.parse(String(headers['x-amz-date']).replace(/(....)(..)(..T..)(..)/, '$1-$2-$3:$4:'));
}

describe('output to Azure Event Hubs', () => {
  const key = 'c2VjcmV0IGtleSBvZiBhbiBldmVudCBodWI=';
  const propertiesAt = (port: number) => ({
    connectionString: `Endpoint=sb://localhost:${port}/;SharedAccessKeyName=Send+Only;SharedAccessKey=${key};EntityPath=Samples`,
  });

  test('an event is sent with the payload, keyed by device, and a signature that holds', async () => {
    const server = await serving(() => ({ status: 201 }));
    expect(await trySend(trusting(azureEventHubs, propertiesAt(server.port)))).toMatchObject({
      ok: true,
    });
    const [request] = server.heard;
    expect(request).toMatchObject({
      method: 'POST',
      path: '/Samples/messages?api-version=2014-01',
      body: message().payload,
    });
    expect(JSON.parse(String(request?.headers['brokerproperties']))).toEqual({
      PartitionKey: '0200000000000001',
    });
    const [scheme, parts] = String(request?.headers.authorization).split(' ');
    const { sr, sig, se, skn } = Object.fromEntries(new URLSearchParams(parts));
    const resource = `https://localhost:${server.port}/samples`;
    const expected = createHmac('sha256', key)
      .update(`${encodeURIComponent(resource)}\n${se}`)
      .digest('base64');
    expect({ scheme, sr, sig, skn }).toEqual({
      scheme: 'SharedAccessSignature',
      sr: resource,
      sig: expected,
      skn: 'Send+Only',
    });
    expect(Number(se) - Date.now() / 1_000).toBeGreaterThan(60);
  });

  bearsRefusals({
    connector: azureEventHubs,
    propertiesAt,
    refusals: [
      [401, 'InvalidSignature', 'HOURS'],
      [404, 'no such hub', 'HOURS'],
      [413, 'too large', false],
      [503, 'ServerBusy', true],
    ],
  });
});

describe('output to Google Pub/Sub', () => {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const email = 'sender@project.iam.gserviceaccount.com';
  const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' });
  const propertiesAt = (port: number) => ({
    pubSubTopic: 'projects/my-project/topics/samples',
    serviceAccountKey: JSON.stringify({
      client_email: email,
      private_key_id: 'key-1',
      private_key: privateKey,
    }),
    endpoint: `https://localhost:${port}`,
  });

  test('a message is published with the payload, ordered by device, and a token that holds', async () => {
    const server = await serving(() => ({ status: 200, body: '{"messageIds":["17"]}' }));
    const target = trusting(gcpPubSub, propertiesAt(server.port));
    for (let i = 0; i < 2; i++)
      expect(await trySend(target)).toMatchObject({
        ok: true,
        answer: expect.stringContaining('17'),
      });
    const [request, second] = server.heard;
    expect(request?.path).toBe('/v1/projects/my-project/topics/samples:publish');
    const { messages } = JSON.parse(request?.body ?? '');
    expect(messages).toEqual([
      {
        data: Buffer.from(message().payload).toString('base64'),
        orderingKey: '0200000000000001',
        attributes: {
          deliveryId: 'delivery-1',
          deviceId: '0200000000000001',
          contentType: 'application/json',
          topic: 'default',
        },
      },
    ]);
    const authorization = String(request?.headers.authorization);
    const [head = '', claims = '', signature = ''] = authorization
      .replace('Bearer ', '')
      .split('.');
    const holds = createVerify('RSA-SHA256')
      .update(`${head}.${claims}`)
      .verify(pair.publicKey, signature, 'base64url');
    expect(holds).toBe(true);
    const decoded = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString());
    expect(decoded(head)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'key-1' });
    const { iat, exp, ...named } = decoded(claims);
    expect(named).toEqual({ iss: email, sub: email, aud: 'https://pubsub.googleapis.com/' });
    expect(exp - iat).toBe(3_600);
    expect(Math.abs(iat - Date.now() / 1_000)).toBeLessThan(60);
    expect(second?.headers.authorization).toBe(authorization);
  });

  bearsRefusals({
    connector: gcpPubSub,
    propertiesAt,
    refusals: [
      [401, 'UNAUTHENTICATED', 'HOURS'],
      [403, 'PERMISSION_DENIED', 'HOURS'],
      [404, 'NOT_FOUND', 'HOURS'],
      [429, 'RESOURCE_EXHAUSTED', true],
      [503, 'UNAVAILABLE', true],
    ],
  });
});
