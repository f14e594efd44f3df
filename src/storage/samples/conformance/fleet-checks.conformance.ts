// Every read of a fleet's devices against the plain list of their rows.
import { expect } from 'vitest';
import { ShapeInterner, LeafValues } from '../../log/data-shape.ts';
import { dayMs, hourMs } from '../../../model/instant.ts';
import type { Sample } from '../../../model/sample.ts';
import { accumulatorNames } from '../../../query/summaries/accumulators.ts';
import type { SampleStore } from '../sample-store.ts';
import type { Samples } from '../samples.ts';
import type { FleetModel, ModelRow } from './fleet-model.ts';
import type { Random } from './random-entries.ts';
import { fleetKeys, fleetStart } from './random-fleet.ts';
import { answers, expectSame } from './random-streams.conformance.ts';
import { ReferenceStore } from './reference-store.ts';
import { allSamples, collect, samplesOfRuns } from './sample-entries.ts';

export interface CheckedFleet {
  readonly samples: Samples;
  readonly store: Pick<SampleStore, 'compare' | 'topics'>;
  readonly model: FleetModel;
  readonly random: Random;
  readonly now: number;
}

interface Range {
  readonly deviceId: string;
  readonly topic?: string;
  readonly from?: number;
  readonly to?: number;
}

/** Compares the reads of one device, in random ranges. */
export async function deviceMustMatch(fleet: CheckedFleet, deviceId: string): Promise<void> {
  const { samples, random } = fleet;
  const rows = rowsOf(fleet.model, deviceId);
  const isSure = rows.every((row) => row.isSure);
  const range = randomRange(fleet, deviceId, rows);
  const wanted = rows.filter((row) => isIn(row, range));
  // One call after the other: the first awaits nothing, so all may see different moments of sealing.
  const read = await samples.samples({ ...range, limit: 1_000_000, skip: 0 });
  mustBe(read, wanted, `samples ${JSON.stringify(range)}`);
  const skip = random.below(wanted.length + 1);
  const limit = 1 + random.below(9);
  const page = await samples.samples({ ...range, skip, limit });
  if (isSure)
    mustBe(page, wanted.slice(skip, skip + limit), `skip ${skip} of ${JSON.stringify(range)}`);
  const exported = await collect(samples.exportSamples(range));
  mustBe(exported.toReversed(), wanted, `export ${JSON.stringify(range)}`);
  const columns = await samplesOfRuns(deviceId, samples.exportColumns(range));
  const withoutMeta = wanted.map(({ meta: _, ...row }) => row);
  mustBe(columns.toReversed(), withoutMeta, `columns ${JSON.stringify(range)}`);
  await bucketsMustMatch(fleet, deviceId, rows);
  await overviewMustMatch(fleet, deviceId, rows);
  await comparisonMustMatch(fleet, deviceId, rows);
}

/** Newest first. */
function rowsOf(model: FleetModel, deviceId: string): readonly ModelRow[] {
  return model.rowsOf(deviceId).toSorted((a, b) => b.at - a.at || b.order - a.order);
}

function randomRange({ random }: CheckedFleet, deviceId: string, rows: readonly ModelRow[]): Range {
  const row = rows.length > 0 ? random.pick(rows) : undefined;
  const kind = random.below(4);
  if (row === undefined || kind === 0) return { deviceId };
  if (kind === 1) return { deviceId, topic: row.topic };
  const from = row.at - random.below(2 * hourMs);
  if (kind === 2) return { deviceId, from };
  return { deviceId, topic: row.topic, from, to: row.at + random.below(dayMs) };
}

function isIn(row: ModelRow, { topic, from = -Infinity, to = Infinity }: Range): boolean {
  return (topic === undefined || row.topic === topic) && row.at >= from && row.at < to;
}

function textOf({ topic, data, meta }: Pick<Sample, 'topic' | 'data' | 'meta'>, at: number) {
  return JSON.stringify([at, topic, data, meta ?? null]);
}

/** All sure rows, in their order; rows that rules have hidden may be among them. */
function mustBe(read: readonly Sample[], rows: readonly ModelRow[], what: string): void {
  const found = read.map((sample) => textOf(sample, sample.timestamp));
  const expected = rows.map((row) => textOf(row, row.at));
  if (rows.every(({ isSure }) => isSure)) {
    expect(found, what).toEqual(expected);
    return;
  }
  const known = new Set(expected);
  expect(
    found.filter((text) => !known.has(text)),
    `${what}: invented`,
  ).toEqual([]);
  // One that was dropped, and stored again under longer rules, is there twice after a crash.
  const sure = rows.filter(({ isSure }) => isSure).map((row) => textOf(row, row.at));
  const isSure = new Set(sure);
  expect(
    found.filter((text) => isSure.has(text)),
    what,
  ).toEqual(sure);
}

async function bucketsMustMatch(
  { samples, model, random, now }: CheckedFleet,
  deviceId: string,
  rows: readonly ModelRow[],
): Promise<void> {
  if (rows.length === 0 || !rows.every(({ isSure }) => isSure)) return;
  const reference = new ReferenceStore();
  reference.add(rows.toReversed());
  const { topic } = random.pick(rows);
  const all = model.deviceIds();
  // One device, and the same among others, in any order and twice.
  const among = [random.pick(all), deviceId, random.pick(all), deviceId];
  for (let i = 0; i < 3; i++) {
    const deviceIds = random.pick([[deviceId], among]);
    const dataKey = random.pick(fleetKeys);
    const accumulator = random.pick(accumulatorNames);
    const edges = randomEdges(random, now);
    const request = { topic, dataKey, accumulator, edges };
    const expected = answers(accumulator, reference.buckets(request));
    const sources = edges.every((edge) => edge % hourMs === 0) ? ['raw', 'hours'] : ['raw'];
    for (const source of sources as ('raw' | 'hours')[]) {
      const found = await samples.buckets({ ...request, source, deviceIds });
      for (const [place, id] of deviceIds.entries())
        if (id === deviceId) {
          const what = `${source} ${JSON.stringify({ ...request, deviceIds })}`;
          expectSame(answers(accumulator, found[place]!), expected, what);
        }
    }
  }
}

function randomEdges(random: Random, now: number): number[] {
  const step = random.pick([hourMs, 6 * hourMs, dayMs, 1_000_000, 77_777_777]);
  const isWhole = step % hourMs === 0;
  const first =
    fleetStart -
    random.below(4) * dayMs +
    (isWhole ? random.below(30) * hourMs : random.below(dayMs));
  const count = 1 + random.below(Math.min(40, Math.max(1, Math.ceil((now - first) / step)) + 2));
  return Array.from({ length: count + 1 }, (_, i) => first + i * step);
}

/** Topics, newest samples and keys. */
async function overviewMustMatch(
  { samples }: CheckedFleet,
  deviceId: string,
  rows: readonly ModelRow[],
): Promise<void> {
  if (!rows.every(({ isSure }) => isSure)) return;
  const newest = new Map<string, ModelRow>();
  for (const row of rows) if (!newest.has(row.topic)) newest.set(row.topic, row);
  const topics = await samples.topics(deviceId);
  expect(topics.map((topic) => topic.newest)).toEqual([...newest.values()].map(({ at }) => at));
  expect(new Map(topics.map((topic) => [topic.topic, topic.newest]))).toEqual(
    new Map([...newest].map(([topic, { at }]) => [topic, at])),
  );
  const [latest = []] = await samples.latest({ deviceIds: [deviceId] });
  expect(latest.map((sample) => textOf(sample, sample.timestamp)).toSorted()).toEqual(
    [...newest.values()].map((row) => textOf(row, row.at)).toSorted(),
  );
  const measured = await samples.measuredKeys(deviceId);
  for (const { topic, keys } of measured)
    expect(
      keys
        .flatMap(({ path, types }) => types.map((type) => `${path.join('/')} ${type}`))
        .toSorted(),
      `keys of ${topic}`,
    ).toEqual(keysOf(rows.filter((row) => row.topic === topic)));
  expect(measured.map(({ topic }) => topic).toSorted()).toEqual([...newest.keys()].toSorted());
}

const kindNames = ['number', 'boolean', 'string', 'array', 'null', 'object', 'object'];

function keysOf(rows: readonly ModelRow[]): string[] {
  const interner = new ShapeInterner();
  const found = new Set<string>();
  for (const { data } of rows) {
    const { leaves, nulls, empties } = interner.shapeOf(data, new LeafValues(), undefined);
    for (const { path, kind } of leaves) found.add(`${path.join('/')} ${kindNames[kind]}`);
    for (const path of nulls) found.add(`${path.join('/')} null`);
    for (const path of empties) found.add(`${path.join('/')} object`);
  }
  return [...found].toSorted();
}

async function comparisonMustMatch(
  { store, random }: CheckedFleet,
  deviceId: string,
  rows: readonly ModelRow[],
): Promise<void> {
  const sure = rows.filter(({ isSure }) => isSure);
  if (sure.length === 0) return;
  const asked = Array.from({ length: 6 }, () => {
    const { topic, at, data } = random.pick(sure);
    const isChanged = random.below(3) === 0;
    return { topic, timestamp: at, data: isChanged ? { ...data, other: 1 } : data, isChanged };
  });
  const { identical, nextOrder } = await store.compare(deviceId, asked);
  const [latest] = await store.topics(deviceId);
  expect(latest?.newest).toBeGreaterThanOrEqual(Math.max(...sure.map(({ at }) => at)));
  expect([...identical].sort((a, b) => a - b)).toEqual(
    asked.flatMap(({ isChanged }, i) => (isChanged ? [] : [i])),
  );
  expect(nextOrder).toBeGreaterThanOrEqual(sure.length);
}

/** The rows of all devices are there and counted; call with rules that hide nothing. */
export async function usageMustMatch(
  { samples, model }: CheckedFleet,
  deviceIds: readonly string[],
): Promise<void> {
  const counts = new Map<string, number>();
  for (const deviceId of deviceIds) {
    const rows = rowsOf(model, deviceId);
    const read = await allSamples(samples, deviceId);
    mustBe(read, rows, `all of ${deviceId}`);
    for (const { topic, timestamp, data } of read) {
      const row = model.find(deviceId, { topic, at: timestamp, data })!;
      counts.set(row.workspaceId, (counts.get(row.workspaceId) ?? 0) + 1);
    }
  }
  const usage = await samples.usage();
  expect(Object.fromEntries([...usage].map(([id, found]) => [id, found.samples]))).toEqual(
    Object.fromEntries(counts),
  );
  for (const { bytes } of usage.values()) expect(bytes).toBeGreaterThan(0);
}
