// The store on ClickHouse passes the suites of all sample stores, and survives being opened again.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { startCutProxy } from '../../../../tests/faults/cut-proxy.ts';
import { clickhouse, startClickHouse } from '../../../../tests/servers/clickhouse.ts';
import { describeWith, startedBefore } from '../../../../tests/servers/server-tests.ts';
import { describeSampleStoreMaintenance } from '../conformance/maintenance.conformance.ts';
import type { Random } from '../conformance/random-entries.ts';
import { describeRandomStream, valueRows } from '../conformance/random-streams.conformance.ts';
import { allSamples, entryOf } from '../conformance/sample-entries.ts';
import { hourMs } from '../../../model/instant.ts';
import { keepAll } from '../conformance/retention-times.ts';
import { describeSampleStore } from '../conformance/sample-store.conformance.ts';
import { openClickHouseSamples, type TestClickHouseSamples } from './testing-clickhouse.ts';
import { verifyShippedSamples } from './verify-samples.ts';

const streams = Number(process.env['STREAMS'] ?? 10);
/** REMOVAL_STREAMS=10000 npm test -- src/storage/samples/clickhouse/clickhouse-store.test.ts -t removals */
const removalStreams = Number(process.env['REMOVAL_STREAMS'] ?? 4);
/** Two thousand scans of a suite are as many requests. */
const timeout = 240_000;
const cleanups: (() => Promise<void>)[] = [];
let databases = 0;

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function temporaryFolder(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'clickhouse-store-'));
  cleanups.push(() => rm(directory, { recursive: true }));
  return directory;
}

describeWith(clickhouse, 'samples in ClickHouse', () => {
  const server = startedBefore(startClickHouse);
  const databaseUrl = (): string => `${server().url}/samples_${process.pid}_${++databases}`;

  async function openIn(
    directory: string,
    url: string,
    clock: { now: number },
  ): Promise<TestClickHouseSamples> {
    const store = await openClickHouseSamples({ directory, url, now: () => clock.now });
    cleanups.push(() => store.close());
    return store;
  }

  const open = async (clock: { now: number } = { now: 1 }) =>
    openIn(await temporaryFolder(), databaseUrl(), clock);

  describe('open rows', { timeout }, () => {
    describeSampleStore(open);
    describeSampleStoreMaintenance(open, async () => undefined);
  });

  describe('shipped', { timeout }, () => {
    describeSampleStoreMaintenance(open, (store) => (store as TestClickHouseSamples).store.flush());
  });

  test.each([
    { what: 'random streams', many: streams, removalOf: 25, first: 1 },
    { what: 'streams with many removals', many: removalStreams, removalOf: 3, first: 1_000_000 },
  ])(
    '$many $what: hourly and raw answers equal the recomputation, shipped and opened again at any moment',
    { timeout: 600_000 },
    async ({ many, removalOf, first }) => {
      const directory = await temporaryFolder();
      const url = databaseUrl();
      const clock = { now: 1 };
      let store = await openIn(directory, url, clock);
      const disturb = async (random: Random) => {
        const kind = random.below(3);
        if (random.below(4) === 0) await store.store.rewritten();
        clock.now += random.below(3_000);
        if (kind === 0) await store.store.flush();
        if (kind > 0) return;
        await store.close();
        store = await openIn(directory, url, clock);
      };
      for (let seed = first; seed < first + many; seed++)
        await describeRandomStream({ store: () => store, disturb }, seed, `d${seed}`, removalOf);
      expect(store.damage).toEqual([]);
      expect(store.failures).toEqual([]);
    },
  );

  test('values are read once each while they are shipped', { timeout }, async () => {
    const store = await open();
    const request = { deviceId: 'd1', topic: 'default', keys: ['n'], before: true, after: true };
    for (let i = 0; i < 15; i++) {
      const at = i * 100;
      const rows = Array.from({ length: 100 }, (_, k) => ({ at: at + k, data: { n: at + k } }));
      await store.append(entryOf('d1', rows));
      const shipped = store.store.flush();
      const found = await valueRows(store, { ...request, from: at + 1, to: at + 99 });
      expect(found.map(([time]) => time)).toEqual(rows.map((row) => row.at));
      await shipped;
    }
  });

  test('contract 20: samples identical to shipped ones are found after opening again', async () => {
    const [directory, url, clock] = [await temporaryFolder(), databaseUrl(), { now: 1 }];
    const entries = Array.from({ length: 3 }, (_, day) =>
      entryOf(
        'd1',
        Array.from({ length: 60 }, (_, i) => ({
          at: day * 86_400_000 + i * 60_000,
          data: { i, x: i / 7 },
        })),
      ),
    );
    const before = await openIn(directory, url, clock);
    for (const entry of entries) await before.append(entry);
    await before.store.flush();
    await before.close();
    const after = await openIn(directory, url, clock);
    for (const entry of entries)
      expect(await after.append(entry)).toMatchObject({ duplicates: 60, samples: [] });
    expect(await allSamples(after, 'd1')).toHaveLength(180);
  });

  test('devices that stay are served without ClickHouse when others move', async () => {
    const url = new URL(databaseUrl());
    const proxy = await startCutProxy({ target: { host: url.hostname, port: Number(url.port) } });
    cleanups.push(() => proxy.close());
    url.port = String(proxy.port);
    const store = await openIn(await temporaryFolder(), url.href, { now: 1 });
    const append = (device: string, at: number) =>
      store.append(entryOf(device, [{ at, data: { at } }]));
    for (const device of ['stays', 'moves']) await append(device, 1);
    await store.store.flush();
    await proxy.set('refused');
    store.store.devicesMoved((device) => device === 'moves');
    expect(await append('stays', 2)).toMatchObject({ duplicates: 0 });
    // Another node may have stored newer ones.
    await expect(append('moves', 2)).rejects.toMatchObject({ problem: 'samplesUnreachable' });
    await proxy.set('open');
    expect(await append('moves', 2)).toMatchObject({ duplicates: 0 });
    expect(await allSamples(store, 'stays')).toHaveLength(2);
  });

  test('verify reports rows that are there twice', async () => {
    const [directory, url] = [await temporaryFolder(), databaseUrl()];
    const store = await openIn(directory, url, { now: 1 });
    await store.append(
      entryOf('d1', [
        { at: 1, data: { a: 1, b: 'x' } },
        { at: 2, data: { a: 2 } },
      ]),
    );
    await store.store.flush();
    const sound = await verifyShippedSamples(directory, store.clickhouse);
    expect(sound).toMatchObject({ sealedSamples: 2, journalSamples: 2, damage: [] });
    await store.clickhouse.shards[0]!.command(
      'insert into points select * from points where ts = 1',
    );
    const { damage } = await verifyShippedSamples(directory, store.clickhouse);
    expect(damage.map(({ reason }) => reason)).toEqual(['2 rows are there twice']);
  });

  test('contract 38: what a replacement removed is hidden at once, and leaves the tables with their hours', async () => {
    const store = await open();
    const rows = Array.from({ length: 120 }, (_, n) => ({ at: n * 60_000, data: { n, odd: 1 } }));
    await store.append(entryOf('d1', rows));
    await store.append(entryOf('d2', rows));
    await store.store.flushHours();
    const ranges = [{ topics: null, from: 30 * 60_000, to: 90 * 60_000 }];
    const replaces = { cause: 'DELETED', workspaceId: 'w1', ranges } as const;
    await store.append(entryOf('d1', [{ at: 31 * 60_000, data: { n: 7 } }], { replaces }));
    const counted = async (source: 'raw' | 'hours') => {
      const request = { source, topic: 'default', dataKey: 'n', accumulator: 'COUNT' } as const;
      const edges = [0, hourMs, 2 * hourMs];
      const found = await store.buckets({ ...request, deviceIds: ['d1', 'd2'], edges });
      return found.map((tallies) => tallies.map((tally) => tally?.count));
    };
    const left = [
      [31, 30],
      [60, 60],
    ];
    const [shard] = store.clickhouse.shards;
    const stored = async (table: string) =>
      shard?.select<{ n: number }>(`select count() as n from ${table} where device = 'd1'`);
    expect([await counted('raw'), await counted('hours')]).toEqual([left, left]);
    await store.store.flushHours();
    expect([await counted('raw'), await counted('hours')]).toEqual([left, left]);
    expect(await stored('samples')).toEqual([{ n: 121 }]);
    await store.rewritten();
    expect(await stored('samples')).toEqual([{ n: 61 }]);
    expect([await counted('raw'), await counted('hours')]).toEqual([left, left]);
    expect(await allSamples(store, 'd1')).toHaveLength(61);
    const all = [{ topics: null, from: 0, to: 32 * 60_000 }];
    await store.append(entryOf('d1', [], { replaces: { ...replaces, ranges: all } }));
    await store.rewritten();
    expect(await counted('hours')).toEqual([
      [undefined, 30],
      [60, 60],
    ]);
  });

  test('a device that was dropped leaves the tables with the next round of retention', async () => {
    const [directory, url] = [await temporaryFolder(), databaseUrl()];
    const store = await openIn(directory, url, { now: 1 });
    for (const device of ['gone', 'kept'])
      await store.append(entryOf(device, [{ at: 1, data: { a: 1 } }]));
    await store.store.flush();
    await store.dropDevice('gone');
    await store.append(entryOf('gone', [{ at: 1, data: { a: 1 } }]));
    const rows = () =>
      store.clickhouse.shards[0]!.select('select device from points order by device, position');
    expect(await rows()).toEqual([{ device: 'gone' }, { device: 'kept' }]);
    await store.retain(keepAll);
    expect(await allSamples(store, 'gone')).toHaveLength(1);
    // The old row is gone, and the new one was shipped.
    expect(await rows()).toEqual([{ device: 'gone' }, { device: 'kept' }]);
    expect(
      await store.clickhouse.shards[0]!.select("select position from points where device = 'gone'"),
    ).toEqual([{ position: 2 }]);
  });
});
