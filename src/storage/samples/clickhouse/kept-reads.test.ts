// Kept reads: of a device that is asked for often, memory answers what ClickHouse would.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { clickhouse, startClickHouse } from '../../../../tests/servers/clickhouse.ts';
import { describeWith, startedBefore } from '../../../../tests/servers/server-tests.ts';
import { hourMs } from '../../../model/instant.ts';
import type { Sample } from '../../../model/sample.ts';
import { missing } from '../../../structures/missing.ts';
import { accumulatorNames } from '../../../query/summaries/accumulators.ts';
import { answers, expectSame } from '../conformance/random-streams.conformance.ts';
import { keepAll, keeping } from '../conformance/retention-times.ts';
import { entryOf, type Given } from '../conformance/sample-entries.ts';
import { openClickHouseSamples, type TestClickHouseSamples } from './testing-clickhouse.ts';

const cleanups: (() => Promise<void> | void)[] = [];
let databases = 0;
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const stepMs = 600_000;
const keys = ['v', 'on', 'text', 'list.0', 'inner.v', 'none'];
const edges = Array.from({ length: 60 }, (_, hour) => hour * hourMs);

function rows(from: number, to: number): Given[] {
  return Array.from({ length: to - from }, (_, i) => {
    const n = from + i;
    const data = { v: n, on: n % 2 === 0, text: `t${n % 3}`, list: [n], inner: { v: n / 7 } };
    return { at: n * stepMs, topic: n % 10 === 0 ? 'side' : 'default', data };
  });
}

interface Answers {
  readonly buckets: readonly ReturnType<typeof answers>[];
  readonly scans: readonly (readonly Sample[])[];
}

/** Everything that can be asked of one device. */
async function answersOf(store: TestClickHouseSamples): Promise<Answers> {
  const buckets = (['raw', 'hours'] as const).flatMap((source) =>
    keys.flatMap((dataKey) =>
      accumulatorNames.map(async (accumulator) => {
        const request = { topic: 'default', dataKey, accumulator, source, edges };
        const found = await store.buckets({ ...request, deviceIds: ['d1'] });
        return answers(accumulator, found[0] ?? []);
      }),
    ),
  );
  const ranges = [{}, { from: 9 * hourMs }, { from: hourMs, to: 9 * hourMs }, { topic: 'side' }];
  const scans = ranges.map((range) =>
    store.samples({ deviceId: 'd1', limit: 40, skip: 7, ...range }),
  );
  return { buckets: await Promise.all(buckets), scans: await Promise.all(scans) };
}

/** But for the last digit of sums. */
function expectEqual(found: Answers, expected: Answers): void {
  expect(found.scans).toEqual(expected.scans);
  for (const [at, one] of found.buckets.entries())
    expectSame(one, expected.buckets[at] ?? [], `bucket query ${at}`);
}

/** Asks until everything that is asked for is kept. */
async function keep(store: TestClickHouseSamples): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    await answersOf(store);
    await store.store.kept.settled();
  }
}

/** Runs the work without ClickHouse: a statement fails. */
async function withoutStatements<T>(
  { clickhouse: { shards } }: TestClickHouseSamples,
  work: () => Promise<T>,
): Promise<T> {
  const shard = shards[0] ?? missing('shard');
  const refuse = (): never => {
    throw new Error('ClickHouse is asked');
  };
  Object.assign(shard, { select: refuse, stream: refuse });
  try {
    return await work();
  } finally {
    // The methods of the class are left.
    for (const name of ['select', 'stream']) Reflect.deleteProperty(shard, name);
  }
}

describeWith(clickhouse, 'kept rows in front of ClickHouse', () => {
  const server = startedBefore(startClickHouse);

  async function openWith(samples: readonly Given[]): Promise<TestClickHouseSamples> {
    const directory = mkdtempSync(join(tmpdir(), 'kept-reads-'));
    cleanups.push(() => rmSync(directory, { recursive: true, force: true }));
    const url = `${server().url}/kept_${process.pid}_${++databases}`;
    const store = await openClickHouseSamples({ directory, url, now: () => 1 });
    cleanups.push(() => store.close());
    await store.append(entryOf('d1', samples));
    await store.store.flush();
    return store;
  }

  test('answers are the same, also of what is stored and shipped afterwards', async () => {
    const store = await openWith(rows(0, 300));
    const asked = await answersOf(store);
    await keep(store);
    expectEqual(await withoutStatements(store, () => answersOf(store)), asked);
    await store.append(entryOf('d1', [...rows(300, 310), { at: 5, data: { v: -1 } }]));
    const more = await withoutStatements(store, () => answersOf(store));
    expect(more.scans).not.toEqual(asked.scans);
    await store.store.flush();
    expectEqual(await withoutStatements(store, () => answersOf(store)), more);
    store.store.devicesMoved();
    expectEqual(await answersOf(store), more);
    await expect(withoutStatements(store, () => answersOf(store))).rejects.toThrow('is asked');
  });

  test('what rules hide or delete is not shown, also when a rule is removed', async () => {
    const store = await openWith(rows(0, 100));
    await keep(store);
    const keepFrom = 60 * stepMs;
    await store.retain(keeping({ w1: keepFrom }));
    const hidden = await withoutStatements(store, () => answersOf(store));
    await store.retain(keepAll);
    expectEqual(await answersOf(store), hidden);
    store.store.devicesMoved();
    expectEqual(await answersOf(store), hidden);
  });

  test('a device that was dropped has nothing, and what comes afterwards', async () => {
    const store = await openWith(rows(0, 100));
    await keep(store);
    await store.dropDevice('d1');
    expect(await store.samples({ deviceId: 'd1', limit: 1, skip: 0 })).toEqual([]);
    await store.append(entryOf('d1', rows(100, 103)));
    await keep(store);
    const found = await withoutStatements(store, () =>
      store.samples({ deviceId: 'd1', limit: 9, skip: 0 }),
    );
    expect(found.map(({ timestamp }) => timestamp / stepMs)).toEqual([102, 101, 100]);
  });
});
