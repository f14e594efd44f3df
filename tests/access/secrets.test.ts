// After a run through everything that has a secret, none is found in logs, answers, the audit log or the data folder.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLive } from '../world/live-socket.ts';
import { type Acting, actingBy, type Call, makeFixtures, signIn, tokenPath } from './access-world.ts';

const adminKey = '0123456789abcdef.11111111-2222-4333-8444-555555555555';
const adminPassword = 'first password of the owner';
const program = join(import.meta.dirname, '..', '..', 'src', 'main.ts');

interface Running {
  readonly base: string;
  readonly output: () => string;
  readonly stop: () => Promise<void>;
}

/** The real program at its most talkative. */
async function start(directory: string): Promise<Running> {
  const child = spawn(process.execPath, [program], {
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

/** Every answer that may not hold a secret, as text. */
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

test('figures: secrets in any answer, log, audit entry, export or file: 0', { timeout: 60_000 }, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'secrets-'));
  const { base, output, stop } = await start(directory);
  const answers: string[] = [];
  const nobody = actingBy(base, {});
  const owner = await signIn(base, 'admin@localhost', { password: adminPassword });
  const quiet = listening(owner, answers);
  const { organizationId } = await owner.must('GET', '/v3/auth/me');
  const [{ id: workspaceId }] = (await owner.must('GET', '/v3/workspaces')).content;
  // Each secret is told once, by the answer that makes it; those answers are not kept.
  const key = await owner.must('POST', '/v3/api-keys', { name: 'k', organizationId, permissions: { asset: ['read'] } });
  const client = await owner.must('POST', '/v3/oauth-clients', { name: 'c', organizationId });
  const rotated = await owner.must('POST', `/v3/oauth-clients/${client.id}/rotate-secret`);
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: client.clientId,
    client_secret: rotated.clientSecret,
  });
  const formType = { 'content-type': 'application/x-www-form-urlencoded' };
  const token = (await nobody.call('POST', tokenPath, form.toString(), formType)).body.access_token;
  const invited = await owner.must('POST', `/v3/organizations/${organizationId}/members`, {
    email: 'i@example.org',
    role: 'EDITOR',
  });
  const invitation = String(invited.invitationUrl).split('/').at(-1)!;
  const chosen = 'password chosen by the invited';
  await listening(nobody, answers).must('POST', `/v3/auth/invitations/${invitation}`, { name: 'I', password: chosen });
  const changed = 'password after the change';
  const person = await signIn(base, 'i@example.org', { password: chosen });
  await listening(person, answers).must('PUT', '/v3/auth/password', { currentPassword: chosen, newPassword: changed });
  const open = await owner.must('POST', `/v3/organizations/${organizationId}/members`, {
    email: 'j@example.org',
    role: 'VIEWER',
  });
  const made = await makeFixtures(owner, workspaceId, 'secrets');
  const applicationKey = 'A1B2C3D4E5F60718293A4B5C6D7E8F90';
  await owner.must('PUT', `/v3/devices/${made.device}`, { loraProperties: { applicationKey } });

  const reader = listening(actingBy(base, { 'x-api-key': key.secret }), answers);
  await reader.must('GET', `/v3/devices/${made.device}`);
  await reader.call('GET', `/v3/device-connectors/${made.deviceConnector}`);
  const bearer = listening(actingBy(base, { authorization: `Bearer ${token}` }), answers);
  await bearer.must('GET', '/v3/organizations');
  const capture = new URLSearchParams({ secret: made.secret, deviceId: made.physicalId });
  await listening(nobody, answers).must('POST', `/v3/capture?${capture.toString()}`, { a: 1 });
  for (const parameter of [`xApiKey=${key.secret}`, `access_token=${token}`]) {
    const live = await openLive(`${base.replace('http', 'ws')}/v3/data-streams?${parameter}`);
    answers.push(JSON.stringify(live.greeting));
    live.close();
  }
  // Refusals must not repeat what was sent either.
  await nobody.call('POST', '/v3/auth/login', { email: 'admin@localhost', password: `${adminPassword}x` });
  await listening(nobody, answers).call('GET', `/v3/auth/invitations/${open.invitationUrl.split('/').at(-1)}`);
  await listening(nobody, answers).call('POST', `${tokenPath}`, `${form.toString()}&client_secret=x`, formType);
  await listening(nobody, answers).call('POST', '/v3/auth/login', `{"password":"${adminPassword}"`, {
    'content-type': 'application/json',
  });
  for (const path of [
    'api-keys',
    `api-keys/${key.id}`,
    'oauth-clients',
    `oauth-clients/${client.id}`,
    'audit-logs?size=1000',
    'audit-logs/export',
    'audit-logs/export?format=ndjson',
    'auth/me',
    `organizations/${organizationId}/members`,
  ])
    await quiet.must('GET', `/v3/${path}`);
  await listening(nobody, answers).must('GET', '/metrics');
  await stop();

  const cookie = /session=([\w-]+)/.exec(owner.headers['cookie']!)![1]!;
  const secrets: Record<string, string> = {
    'administrator key': adminKey,
    'administrator password': adminPassword,
    'API key': key.secret,
    'client secret': client.clientSecret,
    'rotated secret': rotated.clientSecret,
    'access token': token,
    'open invitation': open.invitationUrl.split('/').at(-1),
    'used invitation': invitation,
    'chosen password': chosen,
    'changed password': changed,
    session: cookie,
    'uplink secret': made.secret,
    'LoRaWAN key': applicationKey,
  };
  const places: Record<string, Buffer> = { log: Buffer.from(output()), answers: Buffer.from(answers.join('\n')) };
  for (const path of filesUnder(directory)) places[path] = readFileSync(path);
  const found: string[] = [];
  for (const [name, secret] of Object.entries(secrets)) {
    expect(secret.length, name).toBeGreaterThan(15);
    for (const [place, bytes] of Object.entries(places)) if (bytes.includes(secret)) found.push(`${name} in ${place}`);
  }
  console.log(
    `secrets: ${Object.keys(secrets).length} looked for in ${Object.keys(places).length} places, ${found.length} found`,
  );
  expect(output()).toContain('answered');
  expect(answers.length).toBeGreaterThan(15);
  expect(found).toEqual([]);
  rmSync(directory, { recursive: true, force: true });
});
