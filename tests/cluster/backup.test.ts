// Backup of PostgreSQL, ClickHouse and the data folder, restored on fresh servers as the manual says.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { freePort, type RunningServer } from '../../bench/load/server-process.ts';
import { verifyDataFolder, verifyText } from '../../src/app/commands/verify.ts';
import { readConfig } from '../../src/app/config/config.ts';
import { clickhouse, type ClickHouseServer, startClickHouse } from '../servers/clickhouse.ts';
import { postgresql, startPostgresqlIn } from '../servers/postgresql.ts';
import { describeWith } from '../servers/server-tests.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

const database = 'heliograph';
const tables = ['samples', 'points', 'hours', 'hourEnds', 'shapes', 'journals', 'uplinks'];
const hourMs = 3_600_000;
const from = Date.UTC(2026, 0, 5);
const instant = (hours: number) => new Date(from + hours * hourMs).toISOString();
const interval = { from: instant(0), to: instant(1_000) };

interface Servers {
  readonly folder: string;
  readonly records: RunningServer;
  readonly recordsUrl: string;
  readonly samples: ClickHouseServer;
}

describeWith(postgresql, 'a backup of both servers', () => {
  describeWith(clickhouse, 'and of the data folder', () => {
    const folders: string[] = [];
    const ends: (() => Promise<unknown>)[] = [];
    afterAll(async () => {
      for (const end of ends.toReversed()) await end();
      for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    }, 240_000);

    function newFolder(): string {
      const folder = mkdtempSync(join(tmpdir(), 'heliograph-backup-'));
      // Servers read in it as other users.
      chmodSync(folder, 0o755);
      folders.push(folder);
      return folder;
    }

    async function startServers(): Promise<Servers> {
      const folder = newFolder();
      const port = await freePort();
      const account = { username: 'tester', password: 'right' };
      const place = { port, ...account, database, hasChecksums: true };
      for (const name of ['postgresql', 'clickhouse']) mkdirSync(join(folder, name));
      const records = await startPostgresqlIn(join(folder, 'postgresql'), place);
      ends.push(() => records.stop());
      const samples = await startClickHouse(join(folder, 'clickhouse'));
      ends.push(() => samples.stop());
      const recordsUrl = `postgresql://tester:right@127.0.0.1:${port}/${database}`;
      return { folder, records, recordsUrl, samples };
    }

    function environmentOf({ recordsUrl, samples }: Servers, directory: string) {
      return {
        RECORDS_URL: recordsUrl,
        SAMPLES_URL: `${samples.url}/${database}`,
        SECRETS_KEY: 'the key that is kept apart',
        DATA_DIR: directory,
      };
    }

    const start = (servers: Servers, directory: string): Promise<World> =>
      startWorld({ directory, environment: environmentOf(servers, directory) });

    function pathOf({ folder }: Servers, ...names: string[]): string {
      return join(folder, 'clickhouse', 'data', ...names);
    }

    async function backUp(servers: Servers, directory: string, backup: string): Promise<void> {
      const { recordsUrl, samples } = servers;
      run('pg_dump', '-Fc', '-f', join(backup, 'records.dump'), recordsUrl);
      for (const table of tables) await samples.ask(`alter table ${database}.${table} freeze`);
      cpSync(pathOf(servers, 'shadow'), join(backup, 'shadow'), { recursive: true });
      cpSync(directory, join(backup, 'data'), { recursive: true });
    }

    async function restore(servers: Servers, directory: string, backup: string): Promise<void> {
      const { recordsUrl, samples } = servers;
      run('pg_restore', '--no-owner', '-d', recordsUrl, join(backup, 'records.dump'));
      cpSync(join(backup, 'data'), directory, { recursive: true });
      for (const freeze of readdirSync(join(backup, 'shadow'))) {
        const data = join(backup, 'shadow', freeze, 'data', database);
        if (freeze === 'increment.txt') continue;
        for (const table of readdirSync(data))
          for (const part of readdirSync(join(data, table))) {
            const detached = pathOf(servers, 'data', database, table, 'detached', part);
            mkdirSync(dirname(detached), { recursive: true });
            cpSync(join(data, table, part), detached, { recursive: true });
            await samples.ask(`alter table ${database}.${table} attach part '${part}'`);
          }
      }
    }

    /** A start creates the tables, with a data folder only for this. */
    async function createTables({ samples, folder }: Servers): Promise<void> {
      const environment = { SAMPLES_URL: `${samples.url}/${database}` };
      const empty = await startWorld({ directory: join(folder, 'empty'), environment });
      await empty.close();
      for (const table of tables) await samples.ask(`truncate table ${database}.${table}`);
    }

    test('has every record, sample and hour of its instant, and nothing of what came later', async () => {
      const [servers, directory, backup] = [await startServers(), newFolder(), newFolder()];
      const world = await start(servers, directory);
      const device = await world.device({ name: 'Oven' });
      await world.must('POST', '/v3/tags', { workspaceId: world.workspaceId, name: 'kept' });
      await sendSamples(world, device, { count: 400, first: 0 });
      const before = await seenBy(world, device);
      expect(before).toMatchObject({ count: 400, hourly: 400, tags: ['kept'] });
      await world.close();
      await backUp(servers, directory, backup);

      const again = await start(servers, directory);
      await again.must('POST', '/v3/tags', { workspaceId: again.workspaceId, name: 'later' });
      await sendSamples(again, device, { count: 50, first: 400 });
      expect(await seenBy(again, device)).toMatchObject({ count: 450, hourly: 450 });
      await again.close();

      const [fresh, restored] = [await startServers(), newFolder()];
      await createTables(fresh);
      await restore(fresh, restored, backup);
      const config = readConfig({ LOG_LEVEL: 'silent', ...environmentOf(fresh, restored) });
      const found = await verifyDataFolder(config);
      expect(found.sound, verifyText(found)).toBe(true);
      const back = await start(fresh, restored);
      expect(await seenBy(back, device)).toEqual(before);
      // What is stored from now on continues behind it.
      await sendSamples(back, device, { count: 10, first: 400 });
      expect(await seenBy(back, device)).toMatchObject({ count: 410, hourly: 410 });
      await back.close();
      expect((await verifyDataFolder(config)).sound).toBe(true);
    }, 240_000);
  });
});

function run(program: string, ...words: string[]): void {
  execFileSync(join(dirname(postgresql.path), program), words, { stdio: 'pipe' });
}

async function sendSamples(
  world: World,
  { id }: TestDevice,
  { count, first }: { readonly count: number; readonly first: number },
): Promise<void> {
  const samples = Array.from({ length: count }, (_, i) => ({
    timestamp: instant((first + i) / 2),
    data: { level: first + i },
  }));
  await world.must('POST', `/v3/devices/${id}/backfill/bulk`, samples);
}

async function seenBy(world: World, { id }: TestDevice): Promise<object> {
  const kpi = async (source: string, accumulator: string) => {
    const path = `/v3/devices/${id}/query/${source}/kpi`;
    const body = { topic: 'default', dataKey: 'level', accumulator, interval };
    return (await world.must('POST', path, body)).kpi;
  };
  const { content } = await world.must('GET', `/v3/tags?workspaceId=${world.workspaceId}`);
  return {
    count: await kpi('raw', 'COUNT'),
    hourly: await kpi('aggregated/hourly', 'COUNT'),
    sum: await kpi('raw', 'SUM'),
    hourlySum: await kpi('aggregated/hourly', 'SUM'),
    tags: (content as { readonly name: string }[]).map(({ name }) => name),
    device: (await world.must('GET', `/v3/devices/${id}`)).name,
  };
}
