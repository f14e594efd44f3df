// Random streams through any sample store: every read equals what a plain list answers, raw and hourly alike (figures: 10,000 streams).
import { expect } from 'vitest';
import {
  type AccumulatorName,
  accumulatorNames,
  accumulatorOf,
} from '../../../query/summaries/accumulators.ts';
import type { CountedSlots } from '../../../query/summaries/occupied-slots.ts';
import type { Tally } from '../../../query/summaries/facet.ts';
import { columnValueAt } from '../../../query/summaries/ordered-values.ts';
import type { Replacement } from '../../../model/sample-changes.ts';
import type { Samples } from '../samples.ts';
import type { ValuesRequest } from '../sample-store.ts';
import { Random, randomStream, streamKeys, streamStart, streamTopics } from './random-entries.ts';
import { ReferenceStore, type ValueRow } from './reference-store.ts';
import { allSamples, entryOf, type Given, samplesOfRuns } from './sample-entries.ts';
import { hourMs } from '../../../model/instant.ts';

const wholeDays: CountedSlots = { total: 288, maskOf: () => 0xfff };

/** Sends one random stream and compares everything that can be read. */
export async function describeRandomStream(
  target: {
    readonly store: () => Samples;
    /**
     * Called between entries, at random: sealing, opening again, whatever the store should not
     * mind.
     */
    readonly disturb: (random: Random) => Promise<void>;
  },
  seed: number,
  deviceId: string,
  /** One entry in so many removes samples. */
  removalOf = 25,
): Promise<void> {
  const random = new Random(seed);
  const reference = new ReferenceStore();
  const stream = randomStream(random, 20 + random.below(120));
  for (let i = 0; i < stream.length; ) {
    // Some entries in flight at a time: they share their fsync and see each other's samples before
    // those are durable.
    const together = stream.slice(i, i + 1 + random.below(12));
    const appends = together.map((samples) => {
      const replaces =
        random.below(removalOf) === 0 ? randomReplacement(random, samples) : undefined;
      if (replaces === undefined) reference.add(samples);
      else reference.replace(replaces.ranges, unlike(samples));
      return replaces === undefined
        ? entryOf(deviceId, samples)
        : entryOf(deviceId, unlike(samples), { replaces });
    });
    await Promise.all(appends.map((entry) => target.store().append(entry)));
    i += together.length;
    if (random.below(5) === 0) await target.disturb(random);
  }
  const last = Math.max(...stream.flat().map(({ at }) => at));
  for (const topic of [...streamTopics, undefined]) {
    const expected = reference.newestFirst(topic);
    const read = await allSamples(target.store(), deviceId, topic);
    expect(read.map((s) => [s.timestamp, s.topic, JSON.stringify(s.data), s.meta])).toEqual(
      expected.map((s) => [s.at, s.topic, JSON.stringify(s.data), s.meta]),
    );
    const range = { deviceId, ...(topic === undefined ? {} : { topic }) };
    const columns = await samplesOfRuns(deviceId, target.store().exportColumns(range));
    expect(columns.toReversed().map((s) => [s.timestamp, s.topic, JSON.stringify(s.data)])).toEqual(
      expected.map((s) => [s.at, s.topic, JSON.stringify(s.data)]),
    );
    const skip = random.below(expected.length + 1);
    const from = streamStart + random.below(48) * hourMs;
    const page = await target.store().samples({ ...range, from, skip, limit: 7 });
    const wanted = expected.filter(({ at }) => at >= from).slice(skip, skip + 7);
    expect(page.map((s) => JSON.stringify(s.data))).toEqual(
      wanted.map((s) => JSON.stringify(s.data)),
    );
  }
  const byTopic = (a: { topic: string }, b: { topic: string }) => (a.topic < b.topic ? -1 : 1);
  const topics = await target.store().topics(deviceId);
  expect(topics.toSorted(byTopic)).toEqual(reference.topics().sort(byTopic));
  const counted = [{ topics: null, from: streamStart, to: streamStart + 20 * hourMs }];
  expect(await target.store().count(deviceId, counted)).toEqual(reference.count(counted));
  const [latest = []] = await target.store().latest({ deviceIds: [deviceId] });
  const newest = streamTopics.flatMap((topic) => reference.newestFirst(topic).slice(0, 1));
  expect(new Map(latest.map((s) => [s.topic, JSON.stringify([s.timestamp, s.data])]))).toEqual(
    new Map(newest.map((s) => [s.topic, JSON.stringify([s.at, s.data])])),
  );
  for (let i = 0; i < 6; i++) {
    const from = streamStart + random.below(48) * hourMs;
    const until = from + random.below(24 * hourMs);
    const [found = []] = await target.store().latest({ deviceIds: [deviceId], from, until });
    const expected = streamTopics.flatMap((topic) =>
      reference
        .newestFirst(topic)
        .filter(({ at }) => at >= from && at <= until)
        .slice(0, 1),
    );
    expect(new Map(found.map((s) => [s.topic, JSON.stringify([s.timestamp, s.data])]))).toEqual(
      new Map(expected.map((s) => [s.topic, JSON.stringify([s.at, s.data])])),
    );
  }
  for (let i = 0; i < 6; i++) {
    const from = streamStart + random.below(30) * hourMs - 5 * hourMs;
    const request = {
      topic: random.pick(streamTopics),
      keys: Array.from({ length: random.below(4) }, () => random.pick(streamKeys)),
      from,
      to: from + random.below(40 * hourMs),
      before: random.below(2) === 0,
      after: random.below(2) === 0,
      numeric: random.below(2) === 0,
    };
    expect(
      await valueRows(target.store(), { deviceId, ...request }),
      JSON.stringify(request),
    ).toEqual(reference.values(request));
  }
  for (let i = 0; i < 12; i++) {
    const dataKey = random.pick(streamKeys);
    const accumulator = random.pick([...accumulatorNames, 'P95', 'P99.9', 'P0'] as const);
    const topic = random.pick(streamTopics);
    const edges = randomEdges(random, last);
    const request = { topic, dataKey, accumulator, edges };
    const expected = answers(accumulator, reference.buckets(request));
    const sources = edges.every((edge) => edge % hourMs === 0)
      ? (['raw', 'hours'] as const)
      : (['raw'] as const);
    for (const source of sources) {
      const [found] = await target.store().buckets({ ...request, source, deviceIds: [deviceId] });
      expectSame(answers(accumulator, found!), expected, `${source} ${JSON.stringify(request)}`);
    }
  }
}

/** Reads the values in order, and checks the form of their batches. */
export async function valueRows(
  store: Pick<Samples, 'values'>,
  request: ValuesRequest,
): Promise<ValueRow[]> {
  const rows: ValueRow[] = [];
  for await (const { timestamps, columns } of store.values(request)) {
    expect(timestamps.length).toBeGreaterThan(0);
    expect(timestamps.length).toBeLessThanOrEqual(8_192);
    for (const [row, at] of timestamps.entries()) {
      const values = columns.map((column) => columnValueAt(column, row));
      rows.push([at, ...values]);
      const numbers = values.map((value) =>
        typeof value === 'number' || typeof value === 'boolean' ? Number(value) : Number.NaN,
      );
      expect(columns.map((column) => column.numbers[row])).toEqual(numbers);
    }
  }
  return rows;
}

/** Around the samples, or everything. */
function randomReplacement(random: Random, samples: readonly Given[]): Replacement {
  const at = samples[0]?.at ?? streamStart;
  const step = random.pick([1, hourMs, 20 * hourMs, 1_000 * hourMs]);
  const topics = random.pick([null, ['default'], ['side'], ['default', 'side']]);
  const range = { topics, from: at - step, to: at + 1 + random.below(step) };
  const other = { topics: ['side'], from: at - 2 * step, to: at - step };
  return {
    cause: 'CORRECTED',
    workspaceId: 'w1',
    ranges: random.below(3) === 0 ? [range, other] : [range],
  };
}

/** Each once: samples that come in the place of others are not compared with each other's repetitions. */
function unlike(samples: readonly Given[]): Given[] {
  const known = new Map(
    samples
      .filter(({ stored }) => stored !== false)
      .map((sample) => [JSON.stringify([sample.topic, sample.at]), sample]),
  );
  return [...known.values()];
}

function randomEdges(random: Random, last: number): number[] {
  const step = random.pick([hourMs, hourMs, 24 * hourMs, 6 * hourMs, 1_000_000, 77_777_777]);
  const isWhole = step % hourMs === 0;
  const first =
    streamStart +
    (isWhole ? (random.below(30) - 10) * hourMs : random.below(20_000_000) - 5_000_000);
  const count = 1 + random.below(Math.min(60, Math.ceil((last - streamStart) / step) + 2));
  return Array.from({ length: count + 1 }, (_, i) => first + i * step);
}

/** What the accumulator answers for each bucket. */
export function answers(
  name: AccumulatorName,
  tallies: readonly (Tally | undefined)[],
): (number | null | undefined)[] {
  return tallies.map((tally) =>
    tally === undefined ? undefined : accumulatorOf(name).finish(tally, wholeDays),
  );
}

/** Throws where an answer differs by more than rounding. */
export function expectSame(
  found: (number | null | undefined)[],
  expected: (number | null | undefined)[],
  what: string,
): void {
  for (const [i, want] of expected.entries()) {
    const got = found[i];
    const isClose =
      typeof want === 'number' &&
      typeof got === 'number' &&
      Math.abs(got - want) <= 1e-9 * Math.max(1, Math.abs(want));
    if (!isClose && got !== want)
      throw new Error(`bucket ${i} of ${what}: ${got} instead of ${want}`);
  }
}
