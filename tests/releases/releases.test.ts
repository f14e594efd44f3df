// Upgrade: this version opens the data folder and the PostgreSQL of each release, answers as that release did, and goes on.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyDataFolder } from '../../src/app/commands/verify.ts';
import { readConfig } from '../../src/app/config/config.ts';
import { signIn } from '../access/access-world.ts';
import { postgresql } from '../servers/postgresql.ts';
import { type RecordsCluster, startRecordsCluster } from '../servers/records-cluster.ts';
import { describeWith } from '../servers/server-tests.ts';
import { startWorld, type World } from '../world/world.ts';
import {
  keptSecretsKey,
  ownerEmail,
  releaseFolder,
  releases,
  unpack,
  type UnpackedRelease,
} from './kept-release.ts';

const root = join(import.meta.dirname, '..', '..');

test('the first release is kept', () => {
  expect(releases[0]).toBe('0.2.0');
});

/** Opens the kept data, and does with it what an upgrade must allow. */
function mustGoOn(open: () => { kept: UnpackedRelease; environment: Record<string, string> }) {
  let kept: UnpackedRelease;
  let world: World;
  let environment: Record<string, string>;
  beforeAll(async () => {
    ({ kept, environment } = open());
    const from = Date.parse(kept.recordedAt) - Date.now();
    // Soon after the data was recorded: what is online, kept and open depends on the time.
    world = await startWorld({
      directory: kept.dataFolder,
      environment,
      now: () => Date.now() + from,
    });
  });
  afterAll(async () => {
    await world?.close();
    rmSync(kept.folder, { recursive: true, force: true });
  });

  test('every record, sample, uplink, delivery, run and alarm is as the release answered', async () => {
    expect(kept.answers.length).toBeGreaterThan(30);
    for (const { method, path, body, answer } of kept.answers) {
      const now = await world.must(method, path, body);
      // Later versions may add properties, and drop none.
      if (typeof answer === 'object') expect(now, path).toMatchObject(answer as object);
      else expect(now, path).toEqual(answer);
    }
  });

  test('the owner and the API key of the release sign in', async () => {
    const owner = await signIn(world.base, ownerEmail);
    expect(await owner.must('GET', '/v3/auth/me')).toMatchObject({ email: ownerEmail });
    const path = `/v3/devices/${kept.device.id}`;
    const headers = { 'x-api-key': kept.readerKey };
    expect(await world.call('GET', path, undefined, headers)).toMatchObject({ status: 200 });
  });

  test('an uplink is decoded with the state of the release, stored, and read by its rule', async () => {
    const { device } = kept;
    const latest = `/v3/devices/${device.id}/query/latest-sample?topic=default`;
    const before = await world.must('GET', latest);
    const open = `/v3/alarms?workspaceId=${world.workspaceId}&state=OPEN`;
    const [alarm] = (await world.must('GET', open)).content;
    expect(await world.capture(device, { t: 200 })).toMatchObject({ status: 201 });
    const after = await world.must('GET', latest);
    expect(after.data).toEqual({ temperature: 20, door: 'closed', n: before.data.n + 1 });
    await expect
      .poll(async () => (await world.must('GET', `/v3/alarms/${alarm.id}`)).state)
      .toBe('CLEARED');
  });

  test('it starts again, with what was stored since', async () => {
    await world.close();
    world = await startWorld({ directory: kept.dataFolder, environment });
    const path = `/v3/devices/${kept.device.id}/query/latest-sample?topic=default`;
    expect((await world.must('GET', path)).data).toMatchObject({ temperature: 20 });
  });
}

describe.each(releases)('data folder of %s', (version) => {
  test('verify finds nothing corrupted', async () => {
    const { folder, dataFolder } = unpack(releaseFolder(version), 'sqlite');
    const { sound } = await verifyDataFolder(readConfig({ DATA_DIR: dataFolder }));
    expect(sound).toBe(true);
    rmSync(folder, { recursive: true });
  });

  mustGoOn(() => ({ kept: unpack(releaseFolder(version), 'sqlite'), environment: {} }));

  test('its tables are those of a new data folder', async () => {
    const kept = unpack(releaseFolder(version), 'sqlite');
    for (const directory of [kept.dataFolder, join(kept.folder, 'fresh')])
      await startWorld({ directory }).then((world) => world.close());
    expect(tablesOf(kept.dataFolder)).toEqual(tablesOf(join(kept.folder, 'fresh')));
    rmSync(kept.folder, { recursive: true });
  });
});

/** Columns of every table and the statements of indexes and triggers, by name. */
function tablesOf(directory: string): Record<string, unknown> {
  const db = new DatabaseSync(join(directory, 'records.sqlite'), { readOnly: true });
  try {
    const rows = db
      .prepare("select type, name, sql from sqlite_schema where name not like 'sqlite_stat%'")
      .all() as {
      type: string;
      name: string;
      sql: string | null;
    }[];
    const columns = db.prepare(
      'select name, type, "notnull", dflt_value, pk from pragma_table_info(?) order by name',
    );
    return Object.fromEntries(
      rows.map(({ type, name, sql }) => [
        `${type} ${name}`,
        type === 'table' ? columns.all(name).map((column) => ({ ...column })) : sql,
      ]),
    );
  } finally {
    db.close();
  }
}

describeWith(postgresql, 'on PostgreSQL', () => {
  let cluster: RecordsCluster;
  beforeAll(async () => {
    cluster = await startRecordsCluster();
  });
  afterAll(() => cluster.stop());

  describe.each(releases)('database of %s', (version) => {
    let url: string;
    beforeAll(async () => {
      url = await database(`release_${version.replaceAll('.', '_')}`);
    });

    mustGoOn(() => {
      const kept = unpack(releaseFolder(version), 'postgresql');
      const quiet = ['--quiet', '--no-psqlrc', '--set=ON_ERROR_STOP=1', '--output=/dev/null'];
      execFileSync(join(dirname(postgresql.path), 'psql'), [...quiet, '--file', kept.dump, url]);
      return { kept, environment: settingsOf(url) };
    });

    test('its tables are those of a new database', async () => {
      const freshUrl = await database('fresh');
      const fresh = await startWorld({ environment: settingsOf(freshUrl) });
      await fresh.close();
      expect(await schemaOf(url)).toEqual(await schemaOf(freshUrl));
    });
  });

  describe('data of this version, as npm run release-data records it', () => {
    let recorded: string;
    beforeAll(() => {
      recorded = mkdtempSync(join(tmpdir(), 'heliograph-recorded-'));
      execFileSync(process.execPath, ['tools/release-data.ts', recorded], { cwd: root });
    }, 240_000);
    afterAll(() => rmSync(recorded, { recursive: true }));
    mustGoOn(() => ({ kept: unpack(recorded, 'sqlite'), environment: {} }));
  });

  const settingsOf = (recordsUrl: string) => ({
    RECORDS_URL: recordsUrl,
    SECRETS_KEY: keptSecretsKey,
  });

  async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(statement)).rows;
    } finally {
      await client.end();
    }
  }

  async function database(name: string): Promise<string> {
    await query(cluster.url, `drop database if exists ${name}`);
    await query(cluster.url, `create database ${name}`);
    return Object.assign(new URL(cluster.url), { pathname: `/${name}` }).href;
  }

  async function schemaOf(url: string): Promise<Record<string, unknown>[][]> {
    return Promise.all(
      [
        `select table_name, column_name, data_type, is_nullable, column_default, collation_name
         from information_schema.columns where table_schema = 'public' order by 1, 2`,
        `select indexname, indexdef from pg_indexes where schemaname = 'public' order by 1`,
        `select conrelid::regclass::text as "table", conname, pg_get_constraintdef(oid) as def
         from pg_constraint where connamespace = 'public'::regnamespace order by 1, 2`,
        `select tgrelid::regclass::text as "table", tgname, pg_get_triggerdef(oid) as def
         from pg_trigger where not tgisinternal order by 1, 2`,
      ].map((statement) => query(url, statement)),
    );
  }
});
