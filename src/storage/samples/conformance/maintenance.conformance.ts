// What every sample store must do beside storing: drop what is too old or unwanted, tell what it holds.
import { describe, expect, test } from 'vitest';
import { keepAll, keeping } from './retention-times.ts';
import type { OpenSamples } from '../samples.ts';
import type { SampleStore } from '../sample-store.ts';
import { allSamples, collect, entryOf, samplesOfRuns } from './sample-entries.ts';
import { dayMs } from '../../../model/instant.ts';

/**
 * `settle` brings the store into the state that samples reach with time, before things are dropped.
 */
export function describeSampleStoreMaintenance(
  open: () => Promise<OpenSamples<SampleStore>>,
  settle: (store: OpenSamples<SampleStore>) => Promise<void>,
): void {
  async function filled(): Promise<OpenSamples<SampleStore>> {
    const store = await open();
    for (const [device, workspaceId, dataFlowId] of [
      ['d1', 'w1', 'f1'],
      ['d2', 'w1', 'f2'],
      ['d3', 'w2', null],
    ] as const)
      for (let day = 0; day < 6; day++)
        await store.append(
          entryOf(
            device,
            Array.from({ length: 60 }, (_, i) => ({
              at: day * dayMs + i * 1_000,
              data: { day, i },
              workspaceId,
              dataFlowId,
            })),
          ),
        );
    return store;
  }

  const days = async (store: OpenSamples<SampleStore>, device: string): Promise<unknown[]> =>
    [...new Set((await allSamples(store, device)).map(({ data }) => data['day']))].sort();

  describe('retention', () => {
    test('drops what is older than the rule of its workspace and data flow says, and nothing else', async () => {
      const store = await filled();
      await settle(store);
      const dropped = await store.retain(keeping({ w1: 2 * dayMs }, { f1: 4 * dayMs }));
      expect(dropped.samples).toBe(360);
      expect(await days(store, 'd1')).toEqual([4, 5]);
      expect(await days(store, 'd2')).toEqual([2, 3, 4, 5]);
      expect(await days(store, 'd3')).toEqual([0, 1, 2, 3, 4, 5]);
      expect((await store.retain(keepAll)).samples).toBe(0);
    });

    test('what is too old is never shown, though newer samples of its block keep the block', async () => {
      const store = await filled();
      await settle(store);
      const from = 2 * dayMs + 30_000;
      await store.retain(keeping({ w1: from }));
      const wanted = (await allSamples(store, 'd3')).filter(({ timestamp }) => timestamp >= from);
      expect(wanted).toHaveLength(210);
      const shown = await allSamples(store, 'd1');
      expect(shown.map(({ timestamp, data }) => [timestamp, data])).toEqual(
        wanted.map(({ timestamp, data }) => [timestamp, data]),
      );
      expect(await store.samples({ deviceId: 'd1', limit: 9, skip: 205 })).toEqual(
        shown.slice(205),
      );
      expect(await collect(store.exportSamples({ deviceId: 'd1' }))).toEqual(shown.toReversed());
      const columns = await samplesOfRuns('d1', store.exportColumns({ deviceId: 'd1' }));
      expect(columns).toEqual(shown.toReversed().map(({ meta: _, ...sample }) => sample));
      for (const source of ['raw', 'hours'] as const) {
        const edges = [0, 2 * dayMs, 3 * dayMs, 10 * dayMs];
        const request = {
          source,
          topic: 'default',
          dataKey: 'i',
          accumulator: 'COUNT',
          edges,
        } as const;
        const [counts] = await store.buckets({ ...request, deviceIds: ['d1'] });
        expect(counts!.map((tally) => tally?.count)).toEqual([undefined, 30, 180]);
      }
      await store.append(
        entryOf('d1', [{ at: 1, data: { late: true }, workspaceId: 'w1', dataFlowId: 'f1' }]),
      );
      expect(await allSamples(store, 'd1')).toHaveLength(210);
    });

    test('what was dropped counts no more, and the same sample may be stored anew', async () => {
      const store = await filled();
      await settle(store);
      await store.retain(keeping({ w1: Number.POSITIVE_INFINITY }));
      expect(await store.topics('d1')).toEqual([]);
      expect(await store.latestSample('d1')).toBeUndefined();
      const request = {
        source: 'hours',
        topic: 'default',
        dataKey: 'i',
        accumulator: 'COUNT',
        edges: [0, 10 * dayMs],
      } as const;
      const counts = await store.buckets({ ...request, deviceIds: ['d1', 'd3', 'unknown'] });
      expect(counts.map(([tally]) => tally?.count)).toEqual([undefined, 360, undefined]);
      await store.retain(keepAll);
      const again = await store.append(entryOf('d1', [{ at: 0, data: { day: 0, i: 0 } }]));
      expect(again.duplicates).toBe(0);
      expect(await days(store, 'd1')).toEqual([0]);
    });
  });

  test('a dropped device has no samples, others keep theirs, and it may begin again', async () => {
    const store = await filled();
    await settle(store);
    await store.append(entryOf('d1', [{ at: 7 * dayMs, data: { day: 7 } }]));
    expect((await store.dropDevice('d1')).samples).toBe(361);
    expect(await allSamples(store, 'd1')).toEqual([]);
    expect(await days(store, 'd2')).toEqual([0, 1, 2, 3, 4, 5]);
    await store.append(entryOf('d1', [{ at: 1, data: { day: 9 } }]));
    expect(await days(store, 'd1')).toEqual([9]);
    expect((await store.dropDevice('unknown')).samples).toBe(0);
  });

  test('usage counts samples and bytes by workspace', async () => {
    const store = await filled();
    await settle(store);
    const usage = await store.usage();
    expect([...usage].map(([workspace, { samples }]) => [workspace, samples]).sort()).toEqual([
      ['w1', 720],
      ['w2', 360],
    ]);
    for (const { bytes } of usage.values()) expect(bytes).toBeGreaterThan(100);
  });

  test('interface 4.1: the keys ever measured and their types, newest topics first, at most 50', async () => {
    const store = await open();
    await store.append(
      entryOf('d1', [
        { at: 1, data: { a: 1, in: { b: 'x' }, 'c.d': true } },
        { at: 9, topic: 'side', data: { a: [1] } },
      ]),
    );
    await settle(store);
    await store.append(entryOf('d1', [{ at: 2, data: { a: null } }]));
    const measured = await store.measuredKeys('d1');
    expect(measured.map(({ topic }) => topic)).toEqual(['side', 'default']);
    expect(measured[0]!.keys).toEqual([{ path: ['a'], types: ['array'] }]);
    expect(measured[1]!.keys.map(({ path, types }) => [path, [...types].sort()])).toEqual([
      [['a'], ['null', 'number']],
      [['in', 'b'], ['string']],
      [['c.d'], ['boolean']],
    ]);
    for (let i = 0; i < 60; i++)
      await store.append(entryOf('d2', [{ at: i, topic: `topic${i}`, data: { i } }]));
    expect((await store.measuredKeys('d2')).map(({ topic }) => topic)).toEqual(
      Array.from({ length: 50 }, (_, i) => `topic${59 - i}`),
    );
    expect(await store.measuredKeys('unknown')).toEqual([]);
  });

  test('an export of any length comes oldest first in batches', async () => {
    const store = await filled();
    await settle(store);
    const sizes: number[] = [];
    for await (const batch of store.exportSamples({ deviceId: 'd1' })) sizes.push(batch.length);
    expect(sizes.reduce((a, b) => a + b)).toBe(360);
    const exported = await collect(
      store.exportSamples({ deviceId: 'd1', topic: 'default', from: dayMs, to: 3 * dayMs }),
    );
    expect(exported.map(({ timestamp }) => timestamp)).toEqual(
      exported.map(({ timestamp }) => timestamp).toSorted((a, b) => a - b),
    );
    expect(exported).toHaveLength(120);
  });
}
