// Hours in ClickHouse: what they answer equals the samples at every moment, late, repeated, restarted and deleted.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { clickhouse, startClickHouse } from '../../../../tests/servers/clickhouse.ts';
import {
  currentClickHouse,
  startCurrentClickHouse,
} from '../../../../tests/servers/current-clickhouse.ts';
import { describeWith, startedBefore } from '../../../../tests/servers/server-tests.ts';
import { dayMs, hourMs } from '../../../model/instant.ts';
import { accumulatorNames } from '../../../query/summaries/accumulators.ts';
import { Random } from '../conformance/random-entries.ts';
import { fleetKeys, fleetStart, Fleet } from '../conformance/random-fleet.ts';
import { answers, expectSame } from '../conformance/random-streams.conformance.ts';
import { keeping } from '../conformance/retention-times.ts';
import { entryOf } from '../conformance/sample-entries.ts';
import { openClickHouseSamples, type TestClickHouseSamples } from './testing-clickhouse.ts';

const seeds = Number(process.env['FLEETS'] ?? 1);
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

let databases = 0;

async function placeOn(url: string, clock: { now: number }) {
  const directory = await mkdtemp(join(tmpdir(), 'hours-'));
  cleanups.push(() => rm(directory, { recursive: true, force: true }));
  const database = `${url}/hours_${process.pid}_${++databases}`;
  return async (folder = directory): Promise<TestClickHouseSamples> => {
    const samples = await openClickHouseSamples({
      directory: folder,
      url: database,
      now: () => clock.now,
    });
    cleanups.push(() => samples.close());
    return samples;
  };
}

async function hoursMustEqualRaw(
  samples: TestClickHouseSamples,
  deviceIds: readonly string[],
  random: Random,
): Promise<void> {
  const from = Math.floor(fleetStart / hourMs) * hourMs - 4 * dayMs;
  const to = from + 12 * dayMs;
  for (let i = 0; i < 10; i++) {
    const stepMs = random.pick([hourMs, 6 * hourMs, dayMs, to - from]);
    const accumulator = random.pick(accumulatorNames);
    const edges = Array.from({ length: (to - from) / stepMs + 1 }, (_, at) => from + at * stepMs);
    const [topic, dataKey] = [random.pick(['default', 'side']), random.pick(fleetKeys)];
    const request = { deviceIds, topic, dataKey, accumulator, edges };
    const [raw, hours] = await Promise.all([
      samples.buckets({ ...request, source: 'raw' }),
      samples.buckets({ ...request, source: 'hours' }),
    ]);
    for (const [place, deviceId] of deviceIds.entries())
      expectSame(
        answers(accumulator, hours[place]!),
        answers(accumulator, raw[place]!),
        `${accumulator} of ${dataKey} of ${deviceId}, ${topic}, ${stepMs}`,
      );
  }
}

function hoursMustBeRight(url: () => string, fleets: number): void {
  test.each(Array.from({ length: fleets }, (_, i) => i + 1))(
    'random fleet %i',
    {
      timeout: 300_000,
    },
    async (seed) => {
      const random = new Random(seed + 900);
      const clock = { now: fleetStart };
      const open = await placeOn(url(), clock);
      const fleet = new Fleet(random);
      const devices = fleet.devices.slice(0, 40);
      const ids = devices.map(({ id }) => id);
      let samples = await open();
      for (let round = 0; round < 7; round++) {
        for (let i = 0; i < 60; i++) {
          const device = random.pick(devices);
          const entry = fleet.next(device);
          clock.now = Math.max(clock.now, fleet.now());
          await samples.append(entryOf(device.id, entry));
        }
        clock.now += random.pick([0, 1_000, hourMs / 2, 2 * hourMs]);
        const kind = random.below(6);
        if (kind < 2) await samples.store.flush();
        if (kind === 2) await samples.store.flushHours();
        if (kind === 3) await samples.dropDevice(random.pick(ids));
        if (kind === 4) {
          await samples.close();
          samples = await open();
        }
        if (kind === 5)
          await samples.retain(keeping({ w0: clock.now - random.below(4 * dayMs) }, {}));
        await hoursMustEqualRaw(samples, ids, random);
      }
      await samples.store.flushHours();
      expect(samples.failures).toEqual([]);
      await hoursMustEqualRaw(samples, ids, random);
    },
  );
}

describeWith(clickhouse, 'hours on 18.16', () => {
  const server = startedBefore(startClickHouse);

  test('are what hourly queries read, not the points', async () => {
    const clock = { now: fleetStart };
    const samples = await (await placeOn(server().url, clock))();
    const at = Math.floor(fleetStart / hourMs) * hourMs;
    for (let i = 0; i < 3; i++) {
      await samples.append(entryOf('d1', [{ at: at + i, data: { n: i } }]));
      if (i === 0) await samples.store.flushHours();
      if (i === 1) await samples.store.flush();
    }
    await samples.clickhouse.shards[0]!.command('drop table points');
    const request = { deviceIds: ['d1'], topic: 'default', dataKey: 'n', source: 'hours' } as const;
    const [found] = await samples.buckets({
      ...request,
      accumulator: 'SUM',
      edges: [at, at + hourMs],
    });
    expect(answers('SUM', found!)).toEqual([3]);
  });

  hoursMustBeRight(() => server().url, seeds);
});

describeWith(currentClickHouse, 'hours on a current version', () => {
  const server = startedBefore(startCurrentClickHouse);
  hoursMustBeRight(() => server().url, seeds);
});
