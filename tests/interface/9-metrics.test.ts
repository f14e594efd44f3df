// Metrics: all names of alert rules and dashboard exist; reports of failures to operators.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createLog } from '../../src/telemetry/log.ts';
import { askCoap, freeUdpPort } from '../world/coap-device.ts';
import { startWorld, type World } from '../world/world.ts';

const docs = join(import.meta.dirname, '..', '..', 'docs');
const lines: Record<string, unknown>[] = [];
const log = createLog('info', { write: (line: string) => void lines.push(JSON.parse(line)) });
let world: World;
let coapPort: number;
beforeAll(async () => {
  coapPort = await freeUdpPort();
  world = await startWorld({ log, environment: { COAP_PORT: String(coapPort) } });
});
afterAll(() => world.close());

const metrics = async () => (await fetch(`${world.base}/metrics`)).text();

async function families(): Promise<Set<string>> {
  const names = new Set<string>();
  for (const [, name, type] of (await metrics()).matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    names.add(name!);
    if (type === 'histogram')
      for (const part of ['bucket', 'count', 'sum']) names.add(`${name}_${part}`);
  }
  return names;
}

test.each(['alerts.yml', 'dashboard.json'])(
  'review reliability 17: every metric that %s names exists',
  async (file) => {
    const named = new Set(
      readFileSync(join(docs, file), 'utf8').match(/\b(heliograph|nodejs|process)_[a-z0-9_]+/g),
    );
    expect(named.size).toBeGreaterThan(10);
    const known = await families();
    expect([...named].filter((name) => !known.has(name))).toEqual([]);
  },
);

/** The text of each rule of the file, by its name. */
function rulesOf(file: string): ReadonlyMap<string, string> {
  const [, ...rules] = readFileSync(join(docs, file), 'utf8').split(/^ +- alert: /m);
  return new Map(rules.map((rule) => [rule.slice(0, rule.indexOf('\n')), rule]));
}

test.each(['alerts.yml', 'alerts-nodes.yml'])(
  'review reliability 17: every alert of %s has an expression, a severity and a sentence',
  (file) => {
    const rules = rulesOf(file);
    expect(rules.size).toBeGreaterThan(5);
    for (const rule of rules.values())
      expect(rule).toMatch(
        /^Heliograph\w+\n +expr: \S.*\n[^]*severity: (critical|warning|none)[^]*summary: '\S.*'/,
      );
  },
);

test("behaviour 32: a platform that is dead has alerts, and the alerts have a dead man's switch", () => {
  const rules = rulesOf('alerts.yml');
  const expressionOf = (name: string) => /expr: (.*)/.exec(rules.get(name) ?? '')?.[1];
  expect(expressionOf('HeliographDown')).toBe('up{job="heliograph"} == 0');
  expect(expressionOf('HeliographAbsent')).toBe('absent(up{job="heliograph"})');
  const stale = 'unless on (instance) heliograph_build_info';
  expect(expressionOf('HeliographMetricsStale')).toContain(stale);
  expect(expressionOf('HeliographWatchdog')).toBe('vector(1)');
  const operating = readFileSync(join(docs, 'operating.md'), 'utf8');
  // The alerts find the platform by the name of its job.
  expect(operating).toContain('- job_name: heliograph');
  for (const name of ['Down', 'Absent', 'MetricsStale', 'Watchdog'])
    expect(operating).toContain(`\`Heliograph${name}\``);
});

test('review reliability 17: journal, followers, disk and program have their figures', async () => {
  const device = await world.device();
  for (let i = 0; i < 3; i++) expect((await world.capture(device, { i })).status).toBe(201);
  const text = await metrics();
  const value = (name: string) =>
    Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1]);
  expect(value('heliograph_journal_bytes')).toBeGreaterThan(100);
  expect(value('heliograph_journal_age_seconds')).toBeGreaterThanOrEqual(0);
  expect(value('heliograph_disk_free_bytes')).toBeGreaterThan(0);
  expect(value('heliograph_data_folder_bytes')).toBeGreaterThan(0);
  expect(text).toMatch(/^heliograph_build_info\{version="\d+\.\d+\.\d+"\} 1$/m);
  expect(text).toMatch(/^heliograph_journal_consumer_lag_entries\{follower="raw-uplinks"\} \d+$/m);
});

test('review reliability 16: a failed login and a wrong secret are logged with address, account and reason', async () => {
  const from = lines.length;
  await world.call('POST', '/v3/auth/login', { email: 'Who@example.com', password: 'wrong wrong' });
  await world.call('GET', '/v3/tags', undefined, { 'x-api-key': 'wrong' });
  await world.call('POST', '/v3/capture?secret=wrong&deviceId=d', {});
  const told = lines.slice(from).filter(({ msg }) => msg === 'authentication failed');
  const address = '127.0.0.1';
  expect(told).toEqual([
    expect.objectContaining({
      address,
      route: '/v3/auth/login',
      reason: 'wrongPassword',
      account: 'Who@example.com',
    }),
    expect.objectContaining({ address, route: '/v3/tags', reason: 'unauthorized' }),
    expect.objectContaining({ address, route: '/v3/capture', reason: 'uplinkSecretUnknown' }),
  ]);
  expect(JSON.stringify(told)).not.toContain('wrong wrong');
});

test('review reliability 16: a wrong secret over CoAP and a WebSocket handshake with a wrong key are logged alike', async () => {
  const from = lines.length;
  const query = { secret: 'wrong-secret', deviceId: 'd' };
  expect((await askCoap(coapPort, { query, body: '{}' })).code).toBe('4.01');
  const socket = new WebSocket(
    `${world.base.replace('http', 'ws')}/v3/data-streams?xApiKey=wrong-key`,
  );
  await once(socket, 'error');
  const told = lines.slice(from).filter(({ msg }) => msg === 'authentication failed');
  const address = '127.0.0.1';
  expect(told).toEqual([
    expect.objectContaining({
      level: 'warn',
      address,
      route: 'CoAP /v3/capture',
      reason: 'uplinkSecretUnknown',
    }),
    expect.objectContaining({
      level: 'warn',
      address,
      route: '/v3/data-streams',
      reason: 'unauthorized',
    }),
  ]);
  expect(JSON.stringify(told)).not.toMatch(/wrong-/);
});

test('review reliability 16: a flood of wrong credentials is logged in some lines and counted completely', async () => {
  const from = lines.length;
  const total = 120;
  const wrong = { 'x-api-key': 'wrong' };
  await Promise.all(
    Array.from({ length: total }, () => world.call('GET', '/v3/tags', undefined, wrong)),
  );
  const told = lines.slice(from).filter(({ msg }) => msg === 'authentication failed');
  expect(told.length).toBeGreaterThan(0);
  expect(told.length).toBeLessThan(total);
  const counted = /^heliograph_authentication_failures_total\{reason="unauthorized"\} (\d+)$/m.exec(
    await metrics(),
  );
  expect(Number(counted?.[1])).toBeGreaterThanOrEqual(total);
});

test('review reliability 16: queries by POST are not logged at info, changes are', async () => {
  const device = await world.device();
  const from = lines.length;
  expect((await world.call('POST', `/v3/devices/${device.id}/query`, {})).status).toBe(200);
  expect(
    (await world.call('POST', '/v3/assets/list', { organizationId: world.organizationId })).status,
  ).toBe(200);
  await world.must('POST', '/v3/tags', { name: 'told', workspaceId: world.workspaceId });
  const told = lines.slice(from).filter(({ msg }) => msg === 'answered');
  expect(told.map(({ path }) => path)).toEqual(['/v3/tags']);
});
