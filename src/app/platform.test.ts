// The composition as a whole: a platform opens, serves and closes; a start that fails leaves nothing open.
import { createSocket } from 'node:dgram';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readConfig } from './config/config.ts';
import { createLog } from '../telemetry/log.ts';
import { tokenPaths } from '../model/credential.ts';
import { startText } from './start-message.ts';
import { startPlatform } from './platform.ts';

const log = createLog('silent');
let directory: string;

function configOf(environment: Readonly<Record<string, string>> = {}) {
  return readConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    MQTT_PORT: '0',
    MQTT_TLS_PORT: '0',
    COAP_PORT: '0',
    DATA_DIR: directory,
    LOG_LEVEL: 'silent',
    ADMIN_PASSWORD: 'correct horse battery staple',
    ...environment,
  });
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'heliograph-composition-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const healthOf = (port: number) => fetch(`http://127.0.0.1:${port}/health/ready`);

test('a platform serves until it is closed, and keeps its tenant', async () => {
  const first = await startPlatform(configOf(), undefined, log);
  expect((await healthOf(first.port)).status).toBe(200);
  expect(first.tenant).toMatchObject({ isNew: true, generatedPassword: null });
  await first.runMaintenance();
  await first.close('test');
  await expect(healthOf(first.port)).rejects.toThrow();
  const second = await startPlatform(configOf(), undefined, log);
  const { organizationId, workspaceId } = first.tenant ?? {};
  expect(second.tenant).toMatchObject({ isNew: false, organizationId, workspaceId });
  await second.close('test');
});

const publicUrls = [
  ['names the port that was bound', {}, (port: number) => `http://localhost:${port}`],
  ['is the one given', { PUBLIC_URL: 'https://iot.example/' }, () => 'https://iot.example'],
] as const;

test.for(publicUrls)('with PORT=0 the public URL %s', async ([, environment, urlOf]) => {
  const config = configOf(environment);
  const platform = await startPlatform(config, undefined, log);
  const url = urlOf(platform.port);
  expect(platform.publicUrl).toBe(url);
  expect(startText(config, platform)).toContain(`${url}/v3\n`);
  const documentOf = (path: string) =>
    fetch(`http://127.0.0.1:${platform.port}${path}`).then((answer) => answer.json());

  expect(await documentOf(tokenPaths.discovery)).toMatchObject({
    token_endpoint: `${url}${tokenPaths.token}`,
  });
  expect(await documentOf('/v3/openapi.json')).toMatchObject({ servers: [{ url: '/' }] });
  await platform.close('test');
});

async function takenTcpPort() {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { port: address.port, free: () => server.close() };
}

async function takenUdpPort() {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return { port: socket.address().port, free: () => socket.close() };
}

test.each([
  ['MQTT_PORT', takenTcpPort],
  ['COAP_PORT', takenUdpPort],
] as const)('a start that fails at %s closes what was open', async (setting, take) => {
  const { port, free } = await take();
  const failed = startPlatform(configOf({ [setting]: String(port) }), undefined, log);
  await expect(failed).rejects.toMatchObject({ code: 'EADDRINUSE' });
  free();
  const platform = await startPlatform(configOf({ [setting]: String(port) }), undefined, log);
  expect((await healthOf(platform.port)).status).toBe(200);
  await platform.close('test');
});

test.each([
  [{ RECORDS_URL: 'mysql://a:word@b/c' }, 'Invalid RECORDS_URL: '],
  [{ RECORDS_URL: 'postgres://a/b' }, 'RECORDS_URL is set but SECRETS_KEY is not'],
  [{ SAMPLES_URL: 'http://a,ftp://b' }, 'Invalid SAMPLES_URL: '],
  [{ ADMIN_PASSWORD: 'password' }, 'Invalid ADMIN_PASSWORD'],
  [
    { MQTT_TLS_CERT: '/missing/cert', MQTT_TLS_KEY: '/missing/key' },
    'Invalid MQTT_TLS_CERT=/missing/cert: the file cannot be read',
  ],
])('the settings %j stop the start', async (environment, message) => {
  await expect(startPlatform(configOf(environment), undefined, log)).rejects.toThrow(message);
  const platform = await startPlatform(configOf(), undefined, log);
  await platform.close('test');
});
