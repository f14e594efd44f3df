// Sample store conformance: what every store must do when appending, reading and following.
import { describe, expect, test } from 'vitest';
import type { OpenSamples } from '../samples.ts';
import type { SampleStore } from '../sample-store.ts';
import { valueRows } from './random-streams.conformance.ts';
import {
  allSamples,
  collect,
  devicesOfReplays,
  entryOf,
  replayed,
  withSamples,
} from './sample-entries.ts';

/**
 * `open` gives a fresh store whose clock stands still unless `clock.now` is moved; whoever opens it
 * closes it after the test.
 */
export function describeSampleStore(
  open: (clock: { now: number }) => Promise<OpenSamples<SampleStore>>,
): void {
  describe('append', () => {
    test('contract 20: a sample identical to a stored one is stored once, also within one entry and in flight', async () => {
      const store = await open({ now: 1 });
      const entry = entryOf('d1', [
        { at: 10, data: { a: 1, b: { c: 'x' } } },
        { at: 10, data: { b: { c: 'x' }, a: 1 } },
        { at: 10, data: { a: 2 } },
        { at: 10, data: { a: 1, b: { c: 'x' } }, topic: 'other' },
      ]);
      const [first, inFlight] = await Promise.all([store.append(entry), store.append(entry)]);
      const later = await store.append(entry);
      expect([first, inFlight, later].map((e) => [e.samples.length, e.duplicates])).toEqual([
        [3, 1],
        [0, 4],
        [0, 4],
      ]);
      expect(await allSamples(store, 'd1')).toHaveLength(3);
    });

    test('interface 4.4: the answer comes after the samples can be read', async () => {
      const store = await open({ now: 1 });
      const reads = await Promise.all(
        Array.from({ length: 20 }, async (_, i) => {
          await store.append(entryOf(`d${i}`, [{ at: i, data: { i } }]));
          return (await allSamples(store, `d${i}`)).length;
        }),
      );
      expect(reads).toEqual(new Array(20).fill(1));
    });

    test('positions and cursors grow, time of storing never goes back', async () => {
      const clock = { now: 50 };
      const store = await open(clock);
      const first = await store.append(
        entryOf('d1', [
          { at: 1, data: { a: 1 } },
          { at: 2, data: { a: 2 } },
        ]),
      );
      clock.now = 20;
      const second = await store.append(entryOf('d2', [{ at: 1, data: { a: 1 } }]));
      expect(second.position).toBeGreaterThan(first.position);
      expect(store.log.position).toBeGreaterThan(second.position);
      const stored = [...first.samples, ...second.samples];
      expect(stored.map((s) => s.cursor)).toEqual(stored.map((s) => s.cursor).toSorted());
      expect(stored.map((s) => s.storedAt)).toEqual([50, 50, 50]);
    });

    test('an entry keeps its notes, state, metrics and trace for followers, also when all its samples were known', async () => {
      const store = await open({ now: 1 });
      const samples = [{ at: 1, data: { a: 1 } }];
      await store.append(entryOf('d1', samples));
      const note = {
        level: 'WARN',
        source: 'UPLINK',
        message: 'm',
        id: 'n',
        deviceId: 'd1',
        timestamp: 1,
        correlationId: 'c',
      } as const;
      const metrics = { uplinkId: 'u', deviceId: 'd1', uplinkSize: 3, timestamp: 1 };
      const raw = { topic: null, timestamp: null, body: { a: [1] }, bodyBytes: 7 };
      const trace = {
        duplicateKey: 'k',
        raw,
        times: { dataReceived: 1, processingStart: 2, processingEnd: 3 },
        ruleHops: 1,
      };
      const written = await store.append(
        entryOf('d1', samples, { notes: [note], state: { n: 1 }, metrics, trace }),
      );
      expect(written).toMatchObject({
        notes: [note],
        state: { n: 1 },
        metrics,
        trace,
        samples: [],
        duplicates: 1,
      });
      expect((await collect(store.log.entriesFrom(0))).at(-1)).toEqual(written);
    });
  });

  describe('values', () => {
    test('contract 38: values come in the order of time and storing, with the last before and the first behind', async () => {
      const store = await open({ now: 1 });
      await store.append(
        entryOf('d1', [
          { at: 1, data: { n: 1, s: 'early' } },
          { at: 1, data: { n: 2 } },
          { at: 3, data: { s: 'x' } },
          { at: 9, data: { n: 9 } },
          { at: 9, data: { n: 10 } },
          { at: 5, data: { n: true, s: [1] } },
          { at: 5, data: { n: 5.5, s: null } },
          { at: 6, data: { other: 0 } },
          { at: 5, data: { n: 7 }, topic: 'side' },
        ]),
      );
      const request = { deviceId: 'd1', topic: 'default', keys: ['n', 's'], from: 4, to: 8 };
      const inside = [
        [5, true, [1]],
        [5, 5.5, null],
        [6, null, null],
      ];
      expect(await valueRows(store, { ...request, before: false, after: false })).toEqual(inside);
      expect(await valueRows(store, { ...request, before: true, after: true })).toEqual([
        [1, 2, null],
        [3, null, 'x'],
        ...inside,
        [9, 10, null],
      ]);
      const none = { ...request, from: 20, to: 20, before: true, after: true };
      expect(await valueRows(store, none)).toEqual([
        [5, true, [1]],
        [9, 10, null],
      ]);
    });

    test('many values come in several batches', async () => {
      const store = await open({ now: 1 });
      const count = 20_000;
      for (let from = 0; from < count; from += 1_000)
        await store.append(
          entryOf(
            'd1',
            Array.from({ length: 1_000 }, (_, i) => ({
              at: from + i,
              data: { n: (from + i) / 4 },
            })),
          ),
        );
      const request = { deviceId: 'd1', topic: 'default', keys: ['n'], before: true, after: true };
      const rows = await valueRows(store, { ...request, from: 10, to: count - 10 });
      expect(rows).toHaveLength(count - 18);
      expect(rows.every(([at, n], i) => at === i + 9 && n === at / 4)).toBe(true);
    });
  });

  describe('samples', () => {
    test('come newest first, those of one instant in reverse order of storing, across topics', async () => {
      const store = await open({ now: 1 });
      await store.append(
        entryOf('d1', [
          { at: 5, data: { n: 1 } },
          { at: 5, data: { n: 2 }, topic: 'side' },
          { at: 5, data: { n: 3 } },
        ]),
      );
      await store.append(
        entryOf('d1', [
          { at: 9, data: { n: 4 } },
          { at: 2, data: { n: 5 }, topic: 'side' },
        ]),
      );
      const order = async (topic?: string) =>
        (await allSamples(store, 'd1', topic)).map(({ data }) => data['n']);
      expect(await order()).toEqual([4, 3, 2, 1, 5]);
      expect(await order('side')).toEqual([2, 5]);
      expect(await order('none')).toEqual([]);
      const page = await store.samples({ deviceId: 'd1', limit: 2, skip: 1 });
      expect(page.map(({ data }) => data['n'])).toEqual([3, 2]);
      const range = await store.samples({ deviceId: 'd1', from: 2, to: 9, limit: 10, skip: 0 });
      expect(range.map(({ data }) => data['n'])).toEqual([3, 2, 1, 5]);
      const exported = await collect(store.exportSamples({ deviceId: 'd1', from: 2 }));
      expect(exported.map(({ data }) => data['n'])).toEqual([5, 1, 2, 3, 4]);
    });

    test('come back exactly as written', async () => {
      const store = await open({ now: 1 });
      const list = [
        {
          z: 1,
          a: 'x',
          'dotted.key': true,
          nested: { deep: { er: [1, { b: null }, 'é'] }, n: null },
        },
        { a: 2, z: 'now a text' },
        {},
        { big: 1.7976931348623157e308, tiny: 5e-324, third: 1 / 3, empty: '', none: {}, list: [] },
        { a: null, z: false, text: 'line\n"quoted" \u0000 \ud800' },
        Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`k${i}`, i])),
        { a: JSON.parse('{"__proto__":{"x":1}}') },
      ];
      await store.append(
        entryOf(
          'd1',
          list.map((data, at) => ({ at, data, meta: { at } })),
        ),
      );
      const read = (await allSamples(store, 'd1')).toReversed();
      expect(read.map(({ data }) => JSON.stringify(data))).toEqual(
        list.map((data) => JSON.stringify(data)),
      );
      expect(read.map(({ meta }) => meta)).toEqual(list.map((_, at) => ({ at })));
    });

    test('the newest sample and the topics', async () => {
      const store = await open({ now: 1 });
      expect(await store.latestSample('d1')).toBeUndefined();
      await store.append(
        entryOf('d1', [
          { at: 5, data: { n: 1 } },
          { at: 7, data: { n: 2 }, topic: 'side' },
          { at: 6, data: { n: 3 } },
        ]),
      );
      expect((await store.latestSample('d1'))?.data).toEqual({ n: 2 });
      expect((await store.latestSample('d1', 'default'))?.data).toEqual({ n: 3 });
      expect(await store.latestSample('d1', 'none')).toBeUndefined();
      expect(await store.topics('d1')).toEqual([
        { topic: 'side', newest: 7 },
        { topic: 'default', newest: 6 },
      ]);
    });
  });

  describe('latest', () => {
    test('contract 37: the newest sample of each topic of many devices, in the order of the devices', async () => {
      const store = await open({ now: 1 });
      for (const [device, at] of [
        ['d1', 5],
        ['d2', 9],
      ] as const) {
        await store.append(
          entryOf(device, [
            { at, data: { n: 1 } },
            { at: at + 2, data: { n: 2 }, topic: 'side', meta: { m: 1 } },
            { at: at + 1, data: { n: 3 } },
            { at: at + 1, data: { n: 4 } },
            { at: at + 2, data: { n: 5 }, topic: 'away', stored: false },
          ]),
        );
      }
      await store.append(entryOf('d1', [{ at: 7, data: { n: 6 }, topic: 'level' }]));
      const found = async (deviceIds: readonly string[], topics?: readonly string[]) => {
        const samples = await store.latest({ deviceIds, ...(topics && { topics }) });
        return samples.map((list) =>
          list.map((sample) => [sample.deviceId, sample.topic, sample.timestamp, sample.data['n']]),
        );
      };
      const d1 = [
        ['d1', 'level', 7, 6],
        ['d1', 'side', 7, 2],
        ['d1', 'default', 6, 4],
      ];
      const d2 = [
        ['d2', 'side', 11, 2],
        ['d2', 'default', 10, 4],
      ];
      expect(await found(['d2', 'none', 'd1'])).toEqual([d2, [], d1]);
      expect(await found(['d1', 'd2'], ['default', 'level', 'default'])).toEqual([
        [d1[0], d1[2]],
        [d2[1]],
      ]);
      expect(await found(['d1'], ['none'])).toEqual([[]]);
      expect(await found([])).toEqual([]);
      const [[, side] = []] = await store.latest({ deviceIds: ['d1'] });
      expect(side?.meta).toEqual({ m: 1 });
    });

    test('behaviour 2: a sample dated more than a day ahead is newest only where there is no other', async () => {
      const store = await open({ now: 1 });
      const ahead = 10 * 86_400_000;
      await store.append(
        entryOf('d1', [
          { at: 5, data: { n: 1 } },
          { at: ahead, data: { n: 2 } },
          { at: ahead, data: { n: 3 }, topic: 'side' },
          { at: 86_400_001, data: { n: 4 }, topic: 'edge' },
          { at: 86_400_002, data: { n: 5 }, topic: 'edge' },
        ]),
      );
      await store.append(entryOf('d1', [{ at: ahead + 1, data: { n: 6 } }]));
      const [found = []] = await store.latest({ deviceIds: ['d1'] });
      expect(found.map(({ topic, data }) => [topic, data['n']])).toEqual([
        ['side', 3],
        ['edge', 4],
        ['default', 1],
      ]);
      expect((await store.latestSample('d1'))?.data).toEqual({ n: 4 });
      expect((await store.latestSample('d1', 'default'))?.data).toEqual({ n: 1 });
      expect((await store.latestSample('d1', 'side'))?.data).toEqual({ n: 3 });
    });

    test('contract 39.5: with from, the newest up to until, and no topic without one in between', async () => {
      const store = await open({ now: 1 });
      await store.append(
        entryOf('d1', [
          { at: 5, data: { n: 1 } },
          { at: 8, data: { n: 2 } },
          { at: 8, data: { n: 3 } },
          { at: 9, data: { n: 4 } },
          { at: 4, data: { n: 5 }, topic: 'old' },
          { at: 9, data: { n: 6 }, topic: 'new' },
        ]),
      );
      await store.append(entryOf('d2', [{ at: 6, data: { n: 7 } }]));
      const found = async (from: number, until: number) => {
        const samples = await store.latest({ deviceIds: ['d2', 'd1'], from, until });
        return samples.map((list) => list.map(({ topic, data }) => [topic, data['n']]));
      };
      expect(await found(5, 8)).toEqual([[['default', 7]], [['default', 3]]]);
      expect(await found(4, 8)).toEqual([
        [['default', 7]],
        [
          ['default', 3],
          ['old', 5],
        ],
      ]);
      expect(await found(6, 7)).toEqual([[['default', 7]], []]);
      expect(await found(7, 7)).toEqual([[], []]);
      expect(await found(9, 20)).toEqual([
        [],
        [
          ['default', 4],
          ['new', 6],
        ],
      ]);
    });

    test('contract 37: it is the sample that a scan finds first, also of a thousand devices', async () => {
      const store = await open({ now: 1 });
      const ids = Array.from({ length: 1_000 }, (_, i) => `d${i}`);
      await Promise.all(
        ids.map((id, i) =>
          store.append(
            entryOf(
              id,
              Array.from({ length: 3 }, (_, k) => ({
                at: (i * 7 + k * 5) % 11,
                data: { i, k },
                topic: `t${(i + k) % 2}`,
              })),
            ),
          ),
        ),
      );
      const found = await store.latest({ deviceIds: ids });
      for (const [i, deviceId] of ids.entries()) {
        const scans = await Promise.all(
          ['t0', 't1'].map((topic) => store.samples({ deviceId, topic, limit: 1, skip: 0 })),
        );
        expect(found[i]!.toSorted((a, b) => (a.topic < b.topic ? -1 : 1))).toEqual(scans.flat());
      }
    });
  });

  describe('following', () => {
    test('architecture 4: a flow without the database is followed, never queried or replayed', async () => {
      const store = await open({ now: 1 });
      await store.append(
        entryOf('d1', [
          { at: 1, data: { a: 1 }, stored: false },
          { at: 2, data: { a: 2 } },
        ]),
      );
      await store.append(entryOf('d2', [{ at: 1, data: { a: 1 }, stored: false }]));
      expect(await allSamples(store, 'd1')).toHaveLength(1);
      expect(await store.topics('d2')).toEqual([]);
      expect(await collect(store.log.replay({ storedSince: 0 }, devicesOfReplays))).toHaveLength(1);
      expect((await collect(store.log.entriesFrom(0))).map((e) => e.samples.length)).toEqual([
        2, 1,
      ]);
    });

    test('contract 35: a replay gives what was stored after the cursor or since the time, once and in order', async () => {
      const clock = { now: 100 };
      const store = await open(clock);
      const stored = [];
      for (let i = 0; i < 5; i++) {
        clock.now = 100 + i;
        const samples = [
          { at: 1_000 - i, data: { i } },
          { at: 2_000 - i, data: { i } },
        ];
        stored.push(...(await store.append(entryOf(`d${i % 2}`, samples))).samples);
      }
      for (const [i, { cursor }] of stored.entries())
        expect(await replayed(store, cursor)).toEqual(stored.slice(i + 1));
      expect(await collect(store.log.replay({ storedSince: 103 }, devicesOfReplays))).toEqual(
        stored.slice(6),
      );
      expect(await collect(store.log.replay({ storedSince: 0 }, new Set(['d1'])))).toEqual(
        stored.filter((s) => s.deviceId === 'd1'),
      );
      await expect(
        collect(store.log.replay({ cursor: 'nonsense' }, devicesOfReplays)),
      ).rejects.toMatchObject({
        problem: 'invalidRequest',
      });
    });

    test('followers read entries from a position and are remembered', async () => {
      const store = await open({ now: 1 });
      const entries = [];
      for (let i = 0; i < 4; i++)
        entries.push(withSamples(await store.append(entryOf('d1', [{ at: i, data: { i } }]))));
      expect(await collect(store.log.entriesFrom(entries[2]!.position))).toEqual(entries.slice(2));
      expect(store.log.followerPosition('rules')).toBeUndefined();
      store.log.setFollowerPosition('rules', 2);
      expect(store.log.followerPosition('rules')).toBe(2);
      await store.log.saveFollowerPositions();
      expect(store.log.followerPosition('rules')).toBe(2);
    });
  });

  test('after closing every call is refused', async () => {
    const store = await open({ now: 1 });
    await store.append(entryOf('d1', [{ at: 1, data: { a: 1 } }]));
    await store.close();
    await expect(store.append(entryOf('d1', [{ at: 2, data: { a: 1 } }]))).rejects.toMatchObject({
      problem: 'stopping',
    });
    await expect(allSamples(store, 'd1')).rejects.toMatchObject({ problem: 'stopping' });
  });
}
