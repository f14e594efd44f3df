// Records move to PostgreSQL and back: nothing differs, secrets can be read, and an interruption changes nothing.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrateRecords, type RecordsMigration } from '../../src/app/commands/migrate-records.ts';
import { readConfig } from '../../src/app/config/config.ts';
import { migrationOf, migrationText } from '../../src/app/commands/migration-report.ts';
import { recordsSettings } from '../../src/storage/records/testing-engine.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

/** The state of a decoder is a record too. */
const count = `function consume(event) {
  const state = { n: (event.state?.n ?? 0) + 1 };
  emit('state', state);
  emit('sample', { data: { n: state.n } });
}`;
const secretsKey = 'a key that is not the one of the folder';
let directory: string;
let settings: Readonly<Record<string, string>>;
let device: TestDevice;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'heliograph-migrate-'));
  settings = { ...(await recordsSettings(directory)), SECRETS_KEY: secretsKey };
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const inFolder = { RECORDS_URL: '', SECRETS_KEY: '' };
const migrate = (migration: Partial<RecordsMigration>, copied = () => {}) =>
  migrateRecords(
    readConfig({ DATA_DIR: directory, ...settings }),
    { to: 'postgresql', isDryRun: false, replaces: false, ...migration },
    copied,
  );

/** Runs a platform on the folder for the time of the work. */
async function running(environment: Record<string, string>, work: (world: World) => Promise<void>) {
  const world = await startWorld({ directory, environment });
  try {
    await work(world);
  } finally {
    await world.close();
  }
}

/** Sends one more uplink with the stored secret, and finds all that came before. */
async function mustServe(world: World, sent: number): Promise<void> {
  expect(await world.capture(device, {})).toMatchObject({ status: 201 });
  const samples = await world.must('POST', `/v3/devices/${device.id}/query`, { limit: 10 });
  expect(samples.map(({ data }: { data: { n: number } }) => data.n)).toEqual(
    Array.from({ length: sent }, (_, n) => sent - n),
  );
  const name = `made while ${sent}`;
  await world.must('POST', '/v3/tags', { workspaceId: world.workspaceId, name });
  const connectors = await world.must(
    'GET',
    `/v3/device-connectors?workspaceId=${world.workspaceId}`,
  );
  expect(connectors.content).toHaveLength(1);
  const { totalElements } = await world.must('GET', `/v3/tags?workspaceId=${world.workspaceId}`);
  expect(totalElements).toBe(sent);
  const { content } = await world.must('GET', `/v3/assets?workspaceId=${world.workspaceId}`);
  expect(content).toHaveLength(1);
}

test('records are copied to PostgreSQL and back', { timeout: 240_000 }, async () => {
  await running(inFolder, async (world) => {
    device = await world.device({ script: count });
    await mustServe(world, 1);
    await expect(migrate({})).rejects.toThrow(/is in use by another Heliograph/);
  });
  const counted = await migrate({ isDryRun: true });
  const interrupted = () => {
    throw new Error('interrupted');
  };
  await expect(migrate({}, interrupted)).rejects.toThrow('interrupted');
  const copied = await migrate({});
  expect(copied.differing).toEqual([]);
  expect(copied.tables.find(({ table }) => table === 'devices')).toEqual({
    table: 'devices',
    rows: 1,
  });
  expect([...counted.tables].sort(byTable)).toEqual([...copied.tables].sort(byTable));
  await expect(migrate({})).rejects.toThrow(
    /already contains records. Nothing was changed. Add --replace/,
  );

  await running(settings, async (world) => {
    await mustServe(world, 2);
    await expect(migrate({ to: 'sqlite' })).rejects.toThrow(/is in use/);
  });

  await expect(migrate({ to: 'sqlite' })).rejects.toThrow(/already contains records/);
  await expect(migrate({ to: 'sqlite', replaces: true }, interrupted)).rejects.toThrow(
    'interrupted',
  );
  expect((await migrate({ to: 'sqlite', replaces: true })).differing).toEqual([]);
  await running({ RECORDS_URL: '', SECRETS_KEY: secretsKey }, (world) => mustServe(world, 3));
});

const byTable = (a: { table: string }, b: { table: string }) => (a.table < b.table ? -1 : 1);

const noUrls = { samplesUrl: undefined, recordsUrl: undefined };
const words = (text: string) => text.split(' ');

test.each([
  '',
  'records',
  'records --to mysql',
  'records --to sqlite --force',
  'samples --to postgresql',
  'samples --to clickhouse --replace',
  '--to clickhouse',
])('the words "%s" are refused with those that are right', (text) => {
  expect(() => migrationOf(words(text), noUrls)).toThrow(/^use: heliograph migrate records/);
});

test('cluster and single move what has an address', () => {
  const urls = { samplesUrl: 'http://c/h', recordsUrl: 'postgres://p/h' };
  expect(migrationOf(words('--to cluster --dry-run'), urls)).toEqual({
    samples: { to: 'clickhouse', isDryRun: true },
    records: { to: 'postgresql', isDryRun: true, replaces: false },
  });
  expect(migrationOf(words('--to single'), { ...noUrls, samplesUrl: 'http://c/h' })).toEqual({
    samples: { to: 'embedded', isDryRun: false },
  });
  expect(() => migrationOf(words('--to single'), noUrls)).toThrow(
    /Set SAMPLES_URL, RECORDS_URL, or both/,
  );
});

test('the report says what to do next, or which tables differ', () => {
  const result = {
    from: 'a file',
    tables: [{ table: 'tags', rows: 2_000 }],
    differing: [],
    seconds: 1,
  };
  const migration = { to: 'postgresql', isDryRun: false, replaces: false } as const;
  expect(migrationText(result, migration)).toMatch(/2,000 rows.*same rows.*\n.*RECORDS_URL/);
  expect(migrationText({ ...result, differing: ['tags'] }, migration)).toMatch(
    /differ afterwards: tags/,
  );
});
