// `npm run release-data [-- FOLDER]`: records a small data folder and PostgreSQL of this version, which later versions open in tests/releases.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { signIn } from '../tests/access/access-world.ts';
import { startReceiver } from '../tests/deliveries/receivers.ts';
import {
  archiveIn,
  engines,
  type KeptAnswer,
  type KeptAnswers,
  ownerEmail,
  releaseFolder,
  keptSecretsKey,
} from '../tests/releases/kept-release.ts';
import { postgresql } from '../tests/servers/postgresql.ts';
import { startRecordsCluster } from '../tests/servers/records-cluster.ts';
import { startWorld, type TestDevice, type World } from '../tests/world/world.ts';
import { databaseConnectorId } from '../src/model/ids.ts';
import { isProgram } from './is-program.ts';
import { changelogVersion } from './release/changelog.ts';

const minuteMs = 60_000;
const historyMinutes = 2 * 24 * 60;
const bytesMax = 300_000;
const decoder = `function consume(event) {
  const { n = 0 } = event.state || {};
  emit('sample', { data: { temperature: event.data.t / 10, door: event.data.t > 250 ? 'open' : 'closed', n }, topic: 'default' });
  emit('state', { n: n + 1 });
}`;

/** What the recorded data has of each kind. */
interface Filled {
  readonly device: TestDevice;
  readonly readerKey: string;
  readonly paths: readonly string[];
  readonly queries: readonly { readonly path: string; readonly body: unknown }[];
}

/** Creates a record of each kind, and samples of two days, uplinks, deliveries, runs and alarms. */
async function fill(world: World, target: string): Promise<Filled> {
  const { organizationId, workspaceId } = world;
  const create = (path: string, body: object) => world.must('POST', `/v3/${path}`, body);
  const place = { organizationId, workspaceId };
  const tag = await create('tags', { workspaceId, name: 'Ground floor', color: '#00ff00' });
  const field = await create('custom-fields/meta', {
    workspaceId,
    name: 'Floor',
    type: 'STRING',
  });
  const tags = [{ id: tag.id }];
  const device = await world.device({ name: 'Room 1', script: decoder, tags });
  const quiet = await world.device({ name: 'Room 2', tags });
  const gone = await world.device({ name: 'Gone' });
  // Before there are outputs and rules, which get it too.
  await sendHistory(world, [device, quiet, gone]);
  await world.must('DELETE', `/v3/devices/${gone.id}`);
  const hook = await create('output-connectors', {
    workspaceId,
    name: 'Hook',
    type: 'WEBHOOK',
    webhookProperties: { uri: target, hmacSecret: 'a secret that is encrypted' },
  });
  await world.must('PUT', `/v3/data-flows/${device.dataFlowId}`, {
    outputConnectors: [databaseConnectorId, hook.id].map((id) => ({ id, topic: '*' })),
  });
  await world.must('PUT', `/v3/devices/${device.id}`, {
    customFields: [{ meta: { id: field.id }, value: 'first' }],
  });
  const alarm = await create('output-connectors', {
    workspaceId,
    name: 'Alarm',
    type: 'ALARM',
    scope: 'RULE_ACTION',
    alarmProperties: { name: '{{device.name}} is hot', severity: 'MAJOR' },
  });
  const source = { id: 's1', inputIds: [device.id], dataTopic: 'default', dataKey: 'temperature' };
  const rule = await create('rules', {
    workspaceId,
    name: 'Too hot',
    inputs: [{ id: device.id, type: 'DEVICE' }],
    actions: [{ id: alarm.id }],
    logic: {
      type: 'COMPARISON',
      dataSources: [{ ...source, variableName: 'temperature', valueType: 'NUMERICAL' }],
      logicBlocks: [
        {
          actionIds: [alarm.id],
          conditions: [
            {
              operandFirst: { type: 'DATA_SOURCE', dataSourceId: 's1' },
              operator: 'GT',
              operandSecond: { type: 'CONSTANT', value: 30 },
              order: 0,
            },
          ],
        },
      ],
    },
  });
  const custom = await create('rules/custom', {
    organizationId,
    name: 'Block',
    script: 'function consume(event) {}',
    dataSources: [
      {
        name: 'Temperature',
        description: null,
        variableName: 'temperature',
        defaultTopic: 'default',
        defaultDataKey: 'temperature',
        lastSample: false,
        triggerOnUplink: true,
      },
    ],
    properties: [],
  });
  const integration = await create('integrations', {
    name: 'LoRa',
    type: 'CHIRP_STACK',
    ...place,
    properties: {
      baseUrl: 'http://lora.example.org',
      apiKey: 'k',
      applicationId: 'app',
      deviceProfileId: 'profile',
    },
  });
  const group = await create('dashboard-groups', { workspaceId, name: 'Building' });
  const dashboard = await create('dashboards', {
    workspaceId,
    name: 'Rooms',
    configuration: { tiles: [{ id: 'a', text: '# Rooms' }] },
  });
  const view = await create('views', {
    workspaceId,
    name: 'Warm',
    kind: 'devices',
    shared: true,
    content: { columns: ['name'] },
  });
  const annotation = await create('annotations', {
    workspaceId,
    at: '2026-01-01T00:00:00Z',
    until: '2026-01-02T00:00:00Z',
    text: 'Filter changed',
    deviceId: device.id,
  });
  const report = await create('reports', {
    workspaceId,
    name: 'Weekly',
    dashboardId: dashboard.id,
    schedule: { every: 'WEEKLY', at: '07:00', weekday: 'MO', timeZone: 'Europe/Zurich' },
    recipients: ['reader@example.org'],
    active: false,
  });
  await create(`devices/${device.id}/configuration`, { workspaceId, configuration: { every: 60 } });
  const owner = await signIn(world.base, ownerEmail);
  const key = await owner.must('POST', '/v3/api-keys', {
    organizationId,
    name: 'Reader',
    workspaces: [{ id: workspaceId }],
    permissions: { asset: ['read'], workspace: ['read'] },
  });
  await owner.must('POST', `/v3/organizations/${organizationId}/members`, {
    email: 'member@example.org',
    role: 'VIEWER',
  });
  const second = await create('workspaces', {
    organizationId,
    name: 'Second',
    settings: { timezone: 'America/New_York', retentionDays: 365 },
  });
  const inWorkspace = `workspaceId=${workspaceId}`;
  const days = {
    interval: {
      from: new Date(Date.now() - historyMinutes * minuteMs).toISOString(),
      to: new Date().toISOString(),
    },
  };
  const series = { topic: 'default', dataKey: 'temperature', ...days };
  return {
    device,
    readerKey: key.secret,
    paths: [
      `workspaces/${workspaceId}`,
      `workspaces/${second.id}`,
      `organizations/${organizationId}`,
      `devices/${device.id}`,
      `devices/${quiet.id}`,
      `device-types/${device.deviceTypeId}`,
      `data-flows/${device.dataFlowId}`,
      `device-connectors/${device.connectorId}`,
      `tags/${tag.id}`,
      `custom-fields/meta/${field.id}`,
      `rules/${rule.id}`,
      `rules/custom/${custom.id}`,
      `integrations/${integration.id}`,
      `views/${view.id}`,
      `annotations/${annotation.id}`,
      `reports/${report.id}`,
      `dashboard-groups/${group.id}`,
      `dashboards/${dashboard.id}`,
      ...[hook, alarm].map(({ id }) => `output-connectors/${id}`),
      `output-connectors/${hook.id}/deliveries?size=100`,
      `devices/${device.id}/configuration`,
      `rules/${rule.id}/runs`,
      `devices/${device.id}/uplinks?size=100`,
      `devices/${device.id}/processing-logs?size=100`,
      `organizations/${organizationId}/members`,
      `workspaces/${workspaceId}/members`,
      `assets?${inWorkspace}`,
      `alarms?${inWorkspace}`,
      `search?${inWorkspace}&q=room`,
      `audit-logs?organizationId=${organizationId}&size=100`,
      `workspaces/${workspaceId}/configuration`,
      ...[device, quiet].map(({ id }) => `devices/${id}/query/topics`),
      `devices/${device.id}/query/latest-sample?topic=default`,
    ],
    queries: [
      ...[device, quiet].map(({ id }) => ({
        path: `devices/${id}/query`,
        body: { topic: '*', limit: 200 },
      })),
      {
        path: `devices/${device.id}/query/raw/time-series`,
        body: { ...series, bucketInterval: 'PT6H', timeZone: 'Europe/Zurich', accumulator: 'AVG' },
      },
      {
        path: `devices/${device.id}/query/aggregated/hourly/kpi`,
        body: { ...series, accumulator: 'MAX' },
      },
      {
        path: `tags/${tag.id}/query/raw/kpi`,
        body: { ...series, accumulator: 'SUM' },
      },
    ],
  };
}

/** A sample each five minutes of two days. */
async function sendHistory(world: World, devices: readonly TestDevice[]): Promise<void> {
  const now = Date.now();
  for (const { id } of devices) {
    const samples = Array.from({ length: historyMinutes / 5 }, (_, index) => ({
      timestamp: new Date(now - (historyMinutes - 5 * index) * minuteMs).toISOString(),
      data: { temperature: Math.round(200 + 50 * Math.sin(index / 40)) / 10, index },
    }));
    await world.must('POST', `/v3/devices/${id}/backfill/bulk`, samples);
  }
}

/** Uplinks that are decoded, of which the last ones open an alarm. */
async function sendUplinks(world: World, device: TestDevice): Promise<void> {
  for (const t of [210, 215, 220, 305, 310]) await world.capture(device, { t });
}

async function answersOf(world: World, { paths, queries }: Filled): Promise<KeptAnswer[]> {
  const requests = [
    ...paths.map((path) => ({ method: 'GET', path: `/v3/${path}`, body: undefined })),
    ...queries.map(({ path, body }) => ({ method: 'POST', path: `/v3/${path}`, body })),
  ];
  const answers: KeptAnswer[] = [];
  for (const request of requests) {
    const { method, path, body } = request;
    answers.push({ ...request, answer: await world.must(method, path, body) });
  }
  return answers;
}

/**
 * Records one archive. The folder has sealed samples, from a first run, and samples of a second one
 * that only the journal has, because it is copied while the platform runs, as a power cut leaves it.
 */
async function record(path: string, recordsUrl?: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-release-data-'));
  const target = await startReceiver();
  const settings = {
    directory: join(folder, 'running'),
    environment: {
      EGRESS_ALLOW: '127.0.0.0/8',
      // For a report that is switched off: no mail is sent.
      SMTP_URL: 'smtp://127.0.0.1:9',
      MAIL_FROM: 'iot@example.org',
      ...(recordsUrl !== undefined && { RECORDS_URL: recordsUrl, SECRETS_KEY: keptSecretsKey }),
    },
  };
  try {
    let world = await startWorld(settings);
    const filled = await fill(world, target.url);
    await sendUplinks(world, filled.device);
    await target.atLeast(5);
    await world.close();
    world = await startWorld(settings);
    await sendUplinks(world, filled.device);
    await target.atLeast(10);
    await settled(world, filled, () => savedRuns(settings.directory, recordsUrl));
    await world.platform.runMaintenance();
    const answers = await answersOf(world, filled);
    const recordedAt = new Date().toISOString();
    cpSync(settings.directory, join(folder, 'data'), { recursive: true });
    if (recordsUrl !== undefined) dump(recordsUrl, join(folder, 'records.sql'));
    await world.close();
    const { device, readerKey } = filled;
    const kept: KeptAnswers = { recordedAt, device, readerKey, answers };
    writeFileSync(join(folder, 'answers.json'), `${JSON.stringify(kept, null, 1)}\n`);
    return archive(folder, path);
  } finally {
    await target.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Resolves when nothing of the uplinks is pending. Throws after 30 s with what is. */
async function settled(world: World, { paths }: Filled, saved: () => number): Promise<void> {
  const find = (part: RegExp) => `/v3/${paths.find((path) => part.test(path))}`;
  const expected = [...Array<string>(10).fill('DELIVERED'), 'OPEN', 'CLEARED'].join();
  for (const until = Date.now() + 30_000; ; await delay(100)) {
    const deliveries = await world.must('GET', find(/deliveries/));
    const alarms = await world.must('GET', find(/^alarms/));
    const states = [...deliveries.content, ...alarms.content].map(({ state }) => state).join();
    if (states === expected && saved() >= 10) return;
    if (Date.now() > until) throw new Error(`Not settled: ${states}, ${saved()} runs saved`);
  }
}

/** Runs of rules in the records: a moment after the evaluation they are there too. */
function savedRuns(directory: string, recordsUrl: string | undefined): number {
  const query = 'select "runs" from "ruleRuns"';
  if (recordsUrl !== undefined) {
    const program = join(dirname(postgresql.path), 'psql');
    const text = execFileSync(program, ['-At', '-c', query, recordsUrl], { encoding: 'utf8' });
    return text.split('"correlationId"').length - 1;
  }
  const database = new DatabaseSync(join(directory, 'records.sqlite'), { readOnly: true });
  const rows = database.prepare(query).all();
  database.close();
  return JSON.stringify(rows).split('correlationId').length - 1;
}

function dump(recordsUrl: string, path: string): void {
  const program = join(dirname(postgresql.path), 'pg_dump');
  execFileSync(program, ['--no-owner', '--no-privileges', '--file', path, recordsUrl]);
}

function archive(folder: string, path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  const names = ['answers.json', 'data', 'records.sql'].filter((name) =>
    existsSync(join(folder, name)),
  );
  const owner = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner'];
  execFileSync('tar', ['-czf', path, ...owner, '-C', folder, ...names]);
  const { size } = statSync(path);
  if (size > bytesMax)
    throw new Error(`${path} has ${size} bytes, more than ${bytesMax}. Record less.`);
  return `${path}, ${Math.ceil(size / 1_000)} kB`;
}

/** Throws for a released version, whose data stays as it was written. */
async function recordAll(root: string, chosen: string | undefined): Promise<void> {
  if (!existsSync(postgresql.path))
    throw new Error(`${postgresql.path} is missing: apt-get install ${postgresql.debianPackage}`);
  const manifest = readFileSync(join(root, 'package.json'), 'utf8');
  const { version } = JSON.parse(manifest) as { readonly version: string };
  const { date } = changelogVersion(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version);
  if (date !== undefined && chosen === undefined)
    throw new Error(`${version} was released on ${date}. Its data must stay as it is.`);
  const folder = chosen === undefined ? releaseFolder(version) : resolve(chosen);
  const cluster = await startRecordsCluster();
  try {
    for (const engine of engines) {
      const url = engine === 'postgresql' ? cluster.url : undefined;
      console.log(`written: ${await record(archiveIn(folder, engine), url)}`);
    }
  } finally {
    await cluster.stop();
  }
}

if (isProgram(import.meta.filename))
  await recordAll(join(import.meta.dirname, '..'), process.argv[2]);
