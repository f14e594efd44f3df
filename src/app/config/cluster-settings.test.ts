// Cluster settings: each value that is missing, weak or contradicts another one is refused with a clear sentence.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCertificate } from '../../../tests/servers/certificate.ts';
import { readCluster } from './cluster-settings.ts';
import { ConfigError, type Environment, Settings } from './config-values.ts';

const secret = '9f2c51c8a0d34e7b8a6f0e1d2c3b4a59';
const plain: Environment = {
  NODE_URL: 'http://10.0.0.5:7070',
  CLUSTER_PLAINTEXT: '1',
  CLUSTER_SECRET: secret,
  RECORDS_URL: 'postgres://host/heliograph',
  SAMPLES_URL: 'http://host:8123/heliograph',
  SECRETS_KEY: 'a key',
};
let folder: string;
let tls: Environment;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cluster-settings-'));
  const files = await makeCertificate(folder);
  writeFileSync(join(folder, 'text'), 'no certificate');
  tls = {
    ...plain,
    NODE_URL: 'https://localhost:7070',
    NODE_TLS_CERT: files.certPath,
    NODE_TLS_KEY: files.keyPath,
    NODE_TLS_CA: files.certPath,
  };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const read = (environment: Environment, now = Date.now()) =>
  readCluster(new Settings(environment), now);
const refusalOf = (settings: Environment, now?: number) => {
  try {
    read(settings, now);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  return undefined;
};

test('without NODE_URL it is a platform of one node', () => {
  expect(read({ RECORDS_URL: plain['RECORDS_URL'] })).toBeUndefined();
});

test('a node without TLS', () => {
  expect(read({ ...plain, HOST: '10.0.0.5', LEASE_SECONDS: '5' })).toEqual({
    nodeUrl: 'http://10.0.0.5:7070',
    host: '10.0.0.5',
    secret,
    leaseMs: 5_000,
    journalCopies: 1,
    plaintext: true,
  });
  expect(read(plain)).toMatchObject({ host: '0.0.0.0', leaseMs: 10_000 });
});

test.each([
  ['http://127.0.0.1:7070', '127.0.0.1'],
  ['http://127.0.0.2:7070', '127.0.0.2'],
  ['http://[::1]:7070', '::1'],
  ['http://localhost:7070', 'localhost'],
])('security 6: without TLS, the port of %s is for this machine alone', (url, host) => {
  const settings = { ...plain, NODE_URL: url, CLUSTER_PLAINTEXT: undefined, HOST: '0.0.0.0' };
  expect(read(settings)).toMatchObject({ host, nodeUrl: url });
});

test.each(['http://10.0.0.5:7070', 'http://node-1:7070', 'http://[fe80::1]:7070'])(
  'security 6: %s without TLS is refused',
  (url) => {
    const refusal = refusalOf({ ...plain, NODE_URL: url, CLUSTER_PLAINTEXT: '0' });
    expect(refusal).toContain('is not encrypted');
    expect(refusal).toContain('CLUSTER_PLAINTEXT=1');
  },
);

test('a node with TLS has the contents of its files', () => {
  const pem = (name: string) => readFileSync(tls[name] ?? '', 'utf8');
  expect(read(tls)?.tls).toEqual({
    cert: pem('NODE_TLS_CERT'),
    key: pem('NODE_TLS_KEY'),
    ca: pem('NODE_TLS_CA'),
  });
});

describe('is refused', () => {
  test.each<[string, Environment, string]>([
    ['an address that cannot be read', { NODE_URL: 'node-1' }, 'it must be the URL at which'],
    ['another protocol', { NODE_URL: 'ws://10.0.0.5:7070' }, 'it must be the URL at which'],
    ['no port', { NODE_URL: 'http://10.0.0.5' }, 'with its port'],
    ['a path', { NODE_URL: 'http://10.0.0.5:7070/node' }, 'without a path'],
    ['a password', { NODE_URL: 'http://a:hidden@10.0.0.5:7070' }, 'without a user'],
    ['every address', { NODE_URL: 'http://0.0.0.0:7070' }, 'does not identify a single machine'],
    ['no records', { RECORDS_URL: undefined }, 'RECORDS_URL is not'],
    ['no samples', { SAMPLES_URL: undefined }, 'SAMPLES_URL is not'],
    ['no key', { SECRETS_KEY: undefined }, 'SECRETS_KEY is not'],
    ['no secret', { CLUSTER_SECRET: undefined }, 'CLUSTER_SECRET is not'],
    ['a short secret', { CLUSTER_SECRET: 'short' }, 'it has 5 characters'],
    ['a simple secret', { CLUSTER_SECRET: 'x'.repeat(40) }, 'it is not random enough'],
    ['many copies', { JOURNAL_COPIES: '3' }, 'an integer from 1 to 2'],
    ['a short lease', { LEASE_SECONDS: '1' }, 'an integer from 3 to 60'],
    ['TLS files without TLS', { NODE_TLS_CA: 'ca.pem' }, 'Use an https URL'],
    ['TLS without files', { NODE_URL: 'https://10.0.0.5:7070' }, 'NODE_TLS_CERT is not set'],
  ])('%s', (_, changes, message) => {
    const refusal = refusalOf({ ...plain, ...changes });
    expect(refusal).toContain(message);
    expect(refusal).not.toMatch(/hidden|9f2c51/);
  });

  test.each(['CLUSTER_SECRET', 'LEASE_SECONDS', 'NODE_TLS_CERT'])('%s without a node', (name) => {
    expect(refusalOf({ [name]: '5' })).toContain(`${name} is set but NODE_URL is not`);
  });

  test.each<[string, () => Environment, string]>([
    ['no key', () => ({ NODE_TLS_KEY: undefined }), 'NODE_TLS_KEY is not set'],
    ['no file', () => ({ NODE_TLS_CERT: join(folder, 'none') }), 'ENOENT'],
    ['no certificate', () => ({ NODE_TLS_CERT: join(folder, 'text') }), 'a PEM certificate file'],
    ['no authority', () => ({ NODE_TLS_CA: join(folder, 'text') }), 'NODE_TLS_CA'],
    ['another key', () => ({ NODE_TLS_KEY: join(folder, 'text') }), 'the PEM private key file for'],
    ['another host', () => ({ NODE_URL: 'https://10.9.9.9:7070' }), 'does not cover 10.9.9.9'],
  ])('TLS with %s', (_, changes, message) => {
    expect(refusalOf({ ...tls, ...changes() })).toContain(message);
  });

  test('a certificate that has ended', () => {
    expect(refusalOf(tls, Date.UTC(2999, 0))).toContain('Renew it, or correct');
  });
});
