// Kept reads: what a store answers from decoded chunks and newest samples that it keeps is what it answers from files, whatever changes in between.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dayMs, hourMs } from '../../../model/instant.ts';
import { openTimeZone, type TimeZone } from '../../../model/time-zone.ts';
import { type AccumulatorName, accumulatorNames } from '../../../query/summaries/accumulators.ts';
import {
  Random,
  randomStream,
  streamKeys,
  streamStart,
  streamTopics,
} from '../conformance/random-entries.ts';
import { answers } from '../conformance/random-streams.conformance.ts';
import { keeping } from '../conformance/retention-times.ts';
import { allSamples, entryOf } from '../conformance/sample-entries.ts';
import type { BucketRequest } from '../sample-store.ts';
import { type TestSamples, openTestSamples } from '../testing-samples.ts';
import type { Chunk } from './chunks/chunk.ts';
import { DecodedChunks } from './queries/sealed-rows.ts';
import { storeLimits, type StoreLimits } from './store-limits.ts';

const tiny: Partial<StoreLimits> = {
  chunkRowsMin: 1,
  rowsToCloseAtDay: 40,
  rowsToCloseAtHour: 80,
  rowsMax: 120,
  segmentBytes: 3_000,
  lookEveryBytes: 1_000,
  segmentsToMerge: 3,
  lastRowsMin: 3,
};
const zones = ['UTC', 'Europe/Zurich', 'America/St_Johns', 'Asia/Kathmandu', 'Australia/Lord_Howe'];
const deviceId = 'd1';
/** The stream runs over the night in which clocks in Europe change. */
const steps = [hourMs, 6 * hourMs, dayMs, 7 * dayMs, 7 * 60_000];

async function withStores(
  kept: readonly number[],
  run: (stores: readonly TestSamples[]) => Promise<void>,
): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'kept-'));
  const open = (keptChunkBytes: number, i: number) =>
    openTestSamples({
      directory: join(root, String(i)),
      // Some samples are dated in the future.
      now: () => streamStart + 2 * dayMs,
      limits: { ...tiny, keptChunkBytes, newestSampleBytes: Math.min(keptChunkBytes, 5_000) },
    });
  const stores = await Promise.all(kept.map(open));
  try {
    await run(stores);
    for (const { damage } of stores) expect(damage).toEqual([]);
  } finally {
    await Promise.all(stores.map((store) => store.close()));
    await rm(root, { recursive: true });
  }
}

/** The starts of steps on the clock of the zone, and both ends. */
function edgesOf(from: number, to: number, step: number, zone: TimeZone): number[] {
  const inner = zone.pieces(from, to).flatMap(({ start, end, offsetMs }) => {
    const found: number[] = [];
    let at = Math.ceil((Math.max(from + 1, start) + offsetMs) / step) * step - offsetMs;
    for (; at < Math.min(to, end); at += step) found.push(at);
    return found;
  });
  return [from, ...inner, to];
}

function randomRequest(random: Random, last: number): BucketRequest {
  const step = random.pick(steps);
  const from = streamStart + (random.below(60) - 10) * 1_234_567;
  const to = from + hourMs + random.below(last - streamStart + hourMs);
  const edges = edgesOf(from, to, step, openTimeZone(random.pick(zones))!);
  // Every other request has edges in whole hours of UTC, as hourly aggregates are asked for.
  const whole = [...new Set(edges.map((at) => Math.floor(at / hourMs) * hourMs))];
  const isWhole = random.below(2) === 0 && whole.length > 1;
  const topic = random.pick(streamTopics);
  const accumulator: AccumulatorName = random.pick(accumulatorNames);
  const dataKey = random.pick([...streamKeys, 'n', 'n', 'n']);
  const request = { deviceIds: [deviceId], topic, dataKey, accumulator };
  return isWhole
    ? { ...request, source: 'hours', edges: whole }
    : { ...request, source: 'raw', edges };
}

/** Sums may be made of other parts: chunks of the two stores may be merged at other times. */
function expectClose(found: readonly (number | null | undefined)[], wanted: typeof found): void {
  for (const [i, want] of wanted.entries()) {
    const got = found[i];
    if (typeof want === 'number' && typeof got === 'number')
      expect(Math.abs(got - want)).toBeLessThanOrEqual(4e-15 * Math.max(1, Math.abs(want)));
    else expect(got).toBe(want);
  }
}

/** Samples, and the newest of them in each way in which they are asked for. */
async function expectEqual(
  all: <T>(work: (store: TestSamples) => Promise<T>) => Promise<T[]>,
  topic: string,
): Promise<void> {
  const found = await all(async (store) => [
    await store.latest({ deviceIds: [deviceId, 'nobody'] }),
    await store.latest({ deviceIds: [deviceId], topics: [topic] }),
    await store.latestSample(deviceId),
    await store.latestSample(deviceId, topic),
    await store.samples({ deviceId, topic, limit: 1, skip: 0 }),
    await store.samples({ deviceId, limit: 1, skip: 0 }),
    await store.samples({ deviceId, topic, limit: 1, skip: 0, from: streamStart + 30 * hourMs }),
    await store.samples({ deviceId, topic, limit: 1, skip: 0, to: streamStart + 30 * hourMs }),
    await allSamples(store, deviceId),
  ]);
  const none = found.pop();
  for (const kept of found) expect(kept).toEqual(none);
}

test.each(Array.from({ length: 12 }, (_, i) => i + 1))(
  'review speed 6: kept hours and values answer as files do, after late samples, deletions and retention, stream %i',
  { timeout: 240_000 },
  async (seed) => {
    // Everything is kept, next to nothing, and nothing.
    await withStores([64 * 1024 * 1024, 3_000, 0], async (stores) => {
      const random = new Random(seed);
      const stream = randomStream(random, 60 + random.below(120));
      const last = Math.max(...stream.flat().map(({ at }) => at));
      const all = <T>(work: (store: TestSamples) => Promise<T>) => Promise.all(stores.map(work));
      const requests = Array.from({ length: 6 }, () => randomRequest(random, last));
      const compare = async (): Promise<void> => {
        for (const request of [...requests, randomRequest(random, last)]) {
          const found = await all(({ buckets }) => buckets(request));
          const [kept, little, none] = found.map(([tallies = []]) =>
            answers(request.accumulator, tallies),
          );
          expectClose(kept!, none!);
          expectClose(little!, none!);
        }
        // Asked for twice: the second time from memory.
        for (let round = 0; round < 2; round++) await expectEqual(all, random.pick(streamTopics));
      };
      for (const [i, entry] of stream.entries()) {
        await all((store) => store.append(entryOf(deviceId, entry)));
        const kind = random.below(60);
        if (kind < 8) await all((store) => store.sealAll());
        else if (kind === 8) await all((store) => store.dropDevice(deviceId));
        else if (kind === 9) {
          const keepFrom = streamStart + random.below(Math.max(1, last - streamStart));
          await all((store) =>
            store.retain(keeping({ w1: Math.min(keepFrom, streamStart + i * hourMs) })),
          );
        } else if (kind === 10) await all((store) => store.idle());
        if (kind < 11 || i === stream.length - 1) await compare();
      }
    });
  },
);

/** A chunk whose bytes are not what was written. */
function unreadableChunk(): Chunk {
  return {
    rows: 10,
    length: 100,
    schema: { shapes: [], shapeColumns: [], columns: [] },
    origins: [],
    ends: new Uint32Array(10),
    endsAt: 0,
    damaged: false,
    file: { name: 'lost', read: () => new Uint8Array(100) },
    offset: 0,
  } as unknown as Chunk;
}

test('review speed 7: newest samples follow rules of retention that hide rows and show them again', async () => {
  await withStores([1_000_000], async ([store]) => {
    const { append, latest, retain, dropDevice } = store!;
    const newest = async () =>
      (await latest({ deviceIds: [deviceId] })).map((all) => all.map(({ data }) => data['n']));
    await append(entryOf(deviceId, [{ at: streamStart, data: { n: 1 } }]));
    expect(await newest()).toEqual([[1]]);
    expect(await newest()).toEqual([[1]]);
    const hiding = retain(keeping({ w1: streamStart + 1 }));
    expect(await newest()).toEqual([[]]);
    await hiding;
    await append(entryOf(deviceId, [{ at: streamStart + 2, data: { n: 2 } }]));
    await append(entryOf(deviceId, [{ at: streamStart - 2, data: { n: 0 } }]));
    expect(await newest()).toEqual([[2]]);
    const dropping = dropDevice(deviceId);
    expect(await newest()).toEqual([[]]);
    await dropping;
    await append(entryOf(deviceId, [{ at: streamStart + 1, data: { n: 3 } }]));
    expect(await newest()).toEqual([[3]]);
    // What several readers get cannot be changed by one of them.
    const [[sample] = []] = await latest({ deviceIds: [deviceId] });
    expect(() => Object.assign(sample!.data, { n: 4 })).toThrow(TypeError);
  });
});

test('review speed 6: kept chunks take no more than their limit, those not asked for go first', () => {
  const decoded = new DecodedChunks(() => undefined, { ...storeLimits, keptChunkBytes: 2_000 });
  const chunks = Array.from({ length: 10 }, unreadableChunk);
  const [first, ...others] = chunks.map((chunk) => [chunk, decoded.keeping(chunk)] as const);
  expect(decoded.bytes).toBeGreaterThan(1_000);
  expect(decoded.bytes).toBeLessThanOrEqual(2_000);
  const [chunk, rows] = others.at(-1)!;
  expect(decoded.keeping(chunk)).toBe(rows);
  expect(decoded.keeping(first![0])).not.toBe(first![1]);
  // Rows that somebody still reads after they were forgotten count no more.
  const { bytes } = decoded;
  others[0]![1].note(1_000_000);
  expect(decoded.bytes).toBe(bytes);
});

test('review speed 6: a chunk that turns out damaged is kept no longer', () => {
  const reported: string[] = [];
  const decoded = new DecodedChunks((_, reason) => void reported.push(reason), {
    ...storeLimits,
    keptChunkBytes: 1_000_000,
  });
  const chunk = unreadableChunk();
  expect(decoded.sorted(chunk)).toBeUndefined();
  expect(chunk.damaged).toBe(true);
  expect(reported).toHaveLength(1);
  expect(decoded.bytes).toBe(0);
});
