// Secrets: none is found in logs, answers, the audit log or the data folder after a run that uses all.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLive } from '../world/live-socket.ts';
import {
  type Acting,
  actingBy,
  type Call,
  makeFixtures,
  signIn,
  tokenPath,
} from './access-world.ts';
import { testedProgram } from '../world/tested-program.ts';

const adminKey = '0123456789abcdef.11111111-2222-4333-8444-555555555555';
const adminPassword = 'first password of the owner';

interface Running {
  readonly base: string;
  readonly output: () => string;
  readonly stop: () => Promise<void>;
}

/** The real program at its most talkative. */
async function start(directory: string): Promise<Running> {
  const child = spawn(process.execPath, [testedProgram], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOST: '127.0.0.1',
      PORT: '0',
      DATA_DIR: directory,
      ADMIN_API_KEY: adminKey,
      ADMIN_PASSWORD: adminPassword,
      MQTT_PORT: '0',
      MQTT_TLS_PORT: '0',
      COAP_PORT: '0',
      LOG_LEVEL: 'trace',
    },
  });
  let output = '';
  let seen = () => undefined as void;
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => {
      output += text.toString();
      seen();
    });
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const port = await new Promise<string>((resolve, reject) => {
    seen = () => {
      const found = /is ready on 127\.0\.0\.1:(\d+)/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.once('close', () => reject(new Error(output)));
  });
  const stop = async () => {
    child.kill('SIGTERM');
    await gone;
  };
  return { base: `http://127.0.0.1:${port}`, output: () => output, stop };
}

/** Every answer that must not contain a secret, as a string. */
function listening(by: Acting, answers: string[]): Acting {
  const call: Call = async (...request) => {
    const answer = await by.call(...request);
    answers.push(JSON.stringify([answer.body, [...answer.headers]]));
    return answer;
  };
  return { ...by, call, must: async (...request) => (await call(...request)).body };
}

function filesUnder(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile());
}

const chosen = 'password chosen by the invited';
const changed = 'password after the change';
const applicationKey = 'A1B2C3D4E5F60718293A4B5C6D7E8F90';
const formType = { 'content-type': 'application/x-www-form-urlencoded' };

/**
 * Creates everything with a secret. Each is shown only once, in the answer of its creation, which
 * is not kept.
 */
async function makeSecrets(base: string, owner: Acting) {
  const nobody = actingBy(base, {});
  const { organizationId } = await owner.must('GET', '/v3/auth/me');
  const [{ id: workspaceId }] = (await owner.must('GET', '/v3/workspaces')).content;
  const key = await owner.must('POST', '/v3/api-keys', {
    name: 'k',
    organizationId,
    permissions: { asset: ['read'] },
  });
  const client = await owner.must('POST', '/v3/oauth-clients', { name: 'c', organizationId });
  const rotated = await owner.must('POST', `/v3/oauth-clients/${client.id}/rotate-secret`);
  const fields = {
    grant_type: 'client_credentials',
    client_id: client.clientId,
    client_secret: rotated.clientSecret,
  };
  const form = new URLSearchParams(fields).toString();
  const token: string = (await nobody.call('POST', tokenPath, form, formType)).body.access_token;
  const members = `/v3/organizations/${organizationId}/members`;
  const linkOf = async (email: string): Promise<string> => {
    const { invitationUrl } = await owner.must('POST', members, { email, role: 'EDITOR' });
    return String(invitationUrl).split('/').at(-1)!;
  };
  const made = await makeFixtures(owner, workspaceId, 'secrets');
  await owner.must('PUT', `/v3/devices/${made.device}`, { loraProperties: { applicationKey } });
  const links = { used: await linkOf('i@example.org'), open: await linkOf('j@example.org') };
  return { organizationId, key, client, rotated, form, token, links, made };
}

type Made = Awaited<ReturnType<typeof makeSecrets>>;

/** Uses every secret, correctly and wrongly, and reads everything that could contain one. */
async function useSecrets(
  base: string,
  owner: Acting,
  made: Made,
  answers: string[],
): Promise<void> {
  const heard = (headers: Record<string, string>) => listening(actingBy(base, headers), answers);
  const { key, token, links, form, client, organizationId } = made;
  const { device, deviceConnector, secret, physicalId } = made.made;
  await heard({}).must('POST', `/v3/auth/invitations/${links.used}`, {
    name: 'I',
    password: chosen,
  });
  const person = await signIn(base, 'i@example.org', { password: chosen });
  await listening(person, answers).must('PUT', '/v3/auth/password', {
    currentPassword: chosen,
    newPassword: changed,
  });
  const reader = heard({ 'x-api-key': key.secret });
  await reader.must('GET', `/v3/devices/${device}`);
  await reader.call('GET', `/v3/device-connectors/${deviceConnector}`);
  await heard({ authorization: `Bearer ${token}` }).must('GET', '/v3/organizations');
  const capture = new URLSearchParams({ secret, deviceId: physicalId });
  await heard({}).must('POST', `/v3/capture?${capture.toString()}`, { a: 1 });
  for (const parameter of [`xApiKey=${key.secret}`, `access_token=${token}`]) {
    const live = await openLive(`${base.replace('http', 'ws')}/v3/data-streams?${parameter}`);
    answers.push(JSON.stringify(live.greeting));
    live.close();
  }
  // Refusals must not repeat what was sent either.
  await heard({}).call('GET', `/v3/auth/invitations/${links.open}`);
  await heard({}).call('POST', `/v3/auth/invitations/${links.used}`, { password: chosen });
  await heard({}).call('POST', tokenPath, `${form}&client_secret=x`, formType);
  const json = { 'content-type': 'application/json' };
  await heard({}).call('POST', '/v3/auth/login', `{"password":"${adminPassword}"`, json);
  await heard({}).call('POST', '/v3/auth/login', {
    email: 'i@example.org',
    password: adminPassword,
  });
  const paths = [
    'api-keys',
    `api-keys/${key.id}`,
    'oauth-clients',
    `oauth-clients/${client.id}`,
    'auth/me',
  ];
  paths.push('audit-logs?size=1000', 'audit-logs/export', 'audit-logs/export?format=ndjson');
  for (const path of [...paths, `organizations/${organizationId}/members`]) {
    await listening(owner, answers).must('GET', `/v3/${path}`);
  }
  await heard({}).must('GET', '/metrics');
}

test('figures: secrets in any answer, log, audit entry, export or file: 0', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'secrets-'));
  const { base, output, stop } = await start(directory);
  const answers: string[] = [];
  const owner = await signIn(base, 'admin@localhost', { password: adminPassword });
  const made = await makeSecrets(base, owner);
  await useSecrets(base, owner, made, answers);
  await stop();
  const secrets: Record<string, string> = {
    'administrator key': adminKey,
    'administrator password': adminPassword,
    'API key': made.key.secret,
    'client secret': made.client.clientSecret,
    'rotated secret': made.rotated.clientSecret,
    'access token': made.token,
    'pending invitation': made.links.open,
    'used invitation': made.links.used,
    'chosen password': chosen,
    'changed password': changed,
    session: /session=([\w-]+)/.exec(owner.headers['cookie']!)![1]!,
    'uplink secret': made.made.secret,
    'LoRaWAN key': applicationKey,
  };
  const places: Record<string, Buffer> = {
    log: Buffer.from(output()),
    answers: Buffer.from(answers.join('\n')),
  };
  for (const path of filesUnder(directory)) places[path] = readFileSync(path);
  const found: string[] = [];
  for (const [name, secret] of Object.entries(secrets)) {
    expect(secret.length, name).toBeGreaterThan(15);
    for (const [place, bytes] of Object.entries(places))
      if (bytes.includes(secret)) found.push(`${name} in ${place}`);
  }
  console.log(
    `secrets: ${Object.keys(secrets).length} looked for in ${Object.keys(places).length} places, ${found.length} found`,
  );
  expect(output()).toContain('answered');
  expect(answers.length).toBeGreaterThan(15);
  expect(found).toEqual([]);
  rmSync(directory, { recursive: true, force: true });
}, 240_000);
