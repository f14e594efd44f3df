// Bucket query: tallies from hours or aggregates of ClickHouse where those are exact, else from the samples in order.
import { type EpochMs, hourMs } from '../../../model/instant.ts';
import { accumulatorOf } from '../../../query/summaries/accumulators.ts';
import type { Facet, Tally } from '../../../query/summaries/facet.ts';
import { count, ends, numbers, occupied, truths } from '../../../query/summaries/facets.ts';
import { int64, quoted } from '../../clickhouse/statement-values.ts';
import type { Shard } from '../../clickhouse/replica.ts';
import { type DataShape, ShapeInterner } from '../../log/data-shape.ts';
import type { BucketRequest, SampleStore, ValuesRequest } from '../sample-store.ts';
import {
  addAggregates,
  addRows,
  type AggregatedRead,
  BucketPlan,
  deviceCondition,
  type DeviceGroup,
  mayNameElement,
  openRangeOf,
  type Tallies,
} from './bucket-plan.ts';
import { shardOf } from './flusher.ts';
import {
  afterHours,
  type Aggregate,
  aggregateOf,
  type AggregateRow,
  field,
  hourAtText,
  hourOf,
  type HourPartial,
  type HourPartials,
  isPunctualText,
  mergePartials,
} from './hour-partials.ts';
import { endText, type KnownHours, type OtherHours } from './hours.ts';
import { talliesInMemory } from './kept-reads.ts';
import { openPlacesIn, type ReadParts, readPartsOf, type StoreParts } from './store-parts.ts';
import {
  compareRows,
  newestFirst,
  oldestFirst,
  partitionMs,
  type PlacedRow,
  pointKinds,
  pointsOfShape,
} from './sample-tables.ts';
import { dataValue, type Sample } from '../../../model/sample.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { ValueBatch } from '../../../query/summaries/ordered-values.ts';
import { batchRowsMax, isValue, runsOfSamples, ValueBatches } from '../value-batches.ts';
import { type OpenPlace, sampleOfRow } from './open-rows.ts';

/** See the port. */
export async function queryBuckets(
  request: BucketRequest,
  parts: StoreParts,
): ReturnType<SampleStore['buckets']> {
  const ofHours = request.source === 'hours' ? await queryHours(request, parts) : undefined;
  if (ofHours !== undefined) return ofHours;
  const plan = new BucketPlan(request, await readPartsOf(parts, openRangeOf(request)));
  const inMemory = talliesInMemory(plan);
  if (inMemory !== undefined) return request.deviceIds.map((id) => plan.talliesOf(inMemory, id));
  const found = new Map<string, Tallies>();
  // The open rows and the border of the others, of one moment.
  const open = plan.deviceIds.map((deviceId) => [deviceId, plan.openRowsOf(deviceId)] as const);
  for (const group of plan.groups()) await addGroup(group, plan, found);
  for (const [deviceId, rows] of open) plan.addOpenRows(plan.talliesOf(found, deviceId), rows);
  return request.deviceIds.map((deviceId) => plan.talliesOf(found, deviceId));
}

/** Devices whose aggregates are not exact are read sample by sample. */
async function addGroup(
  group: DeviceGroup,
  plan: BucketPlan,
  found: Map<string, Tallies>,
): Promise<void> {
  const { facet, dataKey } = plan;
  const aggregate = aggregateOf(facet);
  if (aggregate === undefined || mayNameElement(dataKey)) {
    await plan.addSamples(group, group.deviceIds, found);
    return;
  }
  const inexact = new Set<string>();
  await addAggregates(group, { aggregate, plan, found, inexact });
  for (const deviceId of inexact) found.delete(deviceId);
  if (inexact.size > 0) await plan.addSamples(group, [...inexact], found);
}

// Hour query: tallies from hours in ClickHouse, partials in memory and open rows of one moment.

const devicesPerQuery = 2_000;
/** Data folders that begin to write while a query runs. */
const attemptsMax = 3;

interface HourRead extends AggregatedRead {
  readonly aggregate: HourAggregate;
  readonly known: KnownHours;
  readonly others: OtherHours;
}

/** Undefined for what hours do not contain: the points have it. */
async function queryHours(
  request: BucketRequest,
  store: StoreParts,
): Promise<readonly Tallies[] | undefined> {
  const aggregate = hourAggregateOf(accumulatorOf(request.accumulator).facet);
  if (aggregate === undefined || mayNameElement(request.dataKey)) return undefined;
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const others = await store.otherHours.read();
    if (others === undefined || store.hours.known() === undefined) return undefined;
    const parts = await readPartsOf(store, openRangeOf(request));
    const plan = new BucketPlan(request, parts);
    const inMemory = talliesInMemory(plan);
    if (inMemory !== undefined) return request.deviceIds.map((id) => plan.talliesOf(inMemory, id));
    const known = parts.hours.known();
    // Hours contain what was removed until it is deleted.
    const isRemoving = request.deviceIds.some((id) => parts.visible.removed.has(id));
    if (known === undefined || isRemoving || !isBehind(others, parts)) return undefined;
    const [found, isComplete] = await Promise.all([
      readHours({ aggregate, plan, known, others, found: new Map(), inexact: new Set() }),
      parts.otherHours.isComplete(others),
    ]);
    if (isComplete) return request.deviceIds.map((deviceId) => plan.talliesOf(found, deviceId));
  }
  return undefined;
}

/** A node that started again may have rows open that hours contain. */
function isBehind({ ends }: OtherHours, { others }: ReadParts): boolean {
  return [...others.shipped].every(([journal, to]) => (ends.get(journal) ?? 0) <= to);
}

/** Everything up to the first statement belongs to one moment. */
async function readHours(read: HourRead): Promise<Map<string, Tallies>> {
  const { plan, found, inexact } = read;
  const open = plan.deviceIds.map((deviceId) => [deviceId, plan.openRowsOf(deviceId)] as const);
  addPartials(read);
  const ofHours = hourStatements(read);
  const ofPoints = pointConditions(read);
  const groups = plan.groups();
  const aggregate = aggregateOf(plan.facet);
  const addPoints = async (): Promise<void> => {
    if (aggregate === undefined) return;
    for (const more of ofPoints)
      for (const group of groups) await addAggregates(group, { ...read, aggregate }, more);
  };
  await Promise.all([
    addPoints(),
    ...ofHours.map(async ({ shard, sql }) => {
      for await (const rows of shard.stream<AggregateRow>(sql)) addRows(rows, read);
    }),
  ]);
  for (const deviceId of inexact) found.delete(deviceId);
  for (const group of groups) await addInexact(group, read);
  for (const [deviceId, rows] of open) plan.addOpenRows(plan.talliesOf(found, deviceId), rows);
  return found;
}

async function addInexact(group: DeviceGroup, { inexact, plan, found }: HourRead): Promise<void> {
  const deviceIds = group.deviceIds.filter((deviceId) => inexact.has(deviceId));
  if (deviceIds.length > 0) await plan.addSamples(group, deviceIds, found);
}

function addPartials(read: HourRead): void {
  const { aggregate, plan, known, found, inexact } = read;
  const { deviceIds } = plan;
  const placeOf = placesOfKey(plan);
  for (const partials of known.partials)
    for (const deviceId of deviceIds)
      for (const [hourAt, partial] of partialsOfHours(deviceId, partials, placeOf, read)) {
        const row = aggregate.rowOf(partial, hourAt);
        if (!aggregate.isExact(row)) inexact.add(deviceId);
        const tally = plan.tallyAt(plan.talliesOf(found, deviceId), plan.bucketOf(hourAt));
        tally.count += row.n;
        aggregate.add(tally, row);
      }
}

/** The place of the key among the points of a shape; -1 without it. */
function placesOfKey({ dataKey }: BucketPlan): (shape: DataShape) => number {
  const key = JSON.stringify(dataKey);
  const places = new Map<DataShape, number>();
  return (shape) => {
    const known = places.get(shape);
    if (known !== undefined) return known;
    const place = pointsOfShape(shape).findIndex((point) => point.key === key);
    places.set(shape, place);
    return place;
  };
}

/** Those of shapes that have the key in common are one, because their values alternate. */
function partialsOfHours(
  deviceId: string,
  partials: HourPartials,
  placeOf: (shape: DataShape) => number,
  read: HourRead,
): ReadonlyMap<EpochMs, HourPartial> {
  const { topic, from, to, parts } = read.plan;
  const byHour = new Map<EpochMs, HourPartial>();
  for (const group of partials.groupsOf(deviceId)) {
    const { shape, hourAt } = group;
    const isWanted =
      group.topic === topic &&
      hourAt >= from &&
      hourAt < to &&
      parts.visible.isKept({ ...group, timestamp: hourAt });
    if (!isWanted) continue;
    if (shape.opaque) read.inexact.add(deviceId);
    const place = placeOf(shape);
    if (place < 0) continue;
    const partial = partials.partialOf(group, place);
    const known = byHour.get(hourAt);
    const sum = known?.slice();
    if (sum !== undefined) mergePartials(sum, partial);
    byHour.set(hourAt, sum ?? partial);
  }
  return byHour;
}

function hourStatements(read: HourRead): readonly {
  readonly shard: Shard;
  readonly sql: string;
}[] {
  const { aggregate, plan } = read;
  const { deviceIds, topic, dataKey, from, to, grid, parts } = plan;
  const { shards, visible } = parts;
  const keep = visible.keepFrom(from);
  const where = [
    `topic = ${quoted(topic)} and key in ('', ${quoted(JSON.stringify(dataKey))})`,
    `hourAt >= ${int64(from)} and hourAt < ${int64(to)}`,
    isContained(read),
    ...(keep === undefined ? [] : [`hourAt >= ${keep}`]),
  ].join(' and ');
  return shards.flatMap((shard) => {
    const ofShard = deviceIds.filter((deviceId) => shardOf(deviceId, shards) === shard);
    return Array.from({ length: Math.ceil(ofShard.length / devicesPerQuery) }, (_, i) => {
      const some = ofShard.slice(i * devicesPerQuery, (i + 1) * devicesPerQuery);
      const devices = `${deviceCondition(some)}${visible.droppedCondition(some)}`;
      const sql = `select device, ${grid.cellOf('hourAt')} as cell, sum(valueCount) as n, max(key = '') as opaque, ${aggregate.columns} from hours where ${where} and ${devices} group by device, cell${aggregate.groupBy}`;
      return { shard, sql };
    });
  });
}

/** Late rows of what is shipped, and else the rows of blocks that hours contain. */
function isContained({ known, others, plan }: HourRead): string {
  const { file, openRows, others: elsewhere } = plan.parts;
  const { journal } = file.state;
  const own = `position < if(late = 1, toUInt64(${openRows.from()}), toUInt64(${known.before}))`;
  if (others.ends.size === 0) return `journal = ${journal} and ${own}`;
  const open = [...elsewhere.shipped].map(
    ([each, to]) => ` and (journal != ${each} or position < ${to})`,
  );
  const late = `(late = 1${open.join('')})`;
  return `if(journal = ${journal}, ${own}, ${late} or position < ${endText(others)})`;
}

/** What is read from points: the hour in which a rule ends, and what other journals have since. */
function pointConditions({ plan, others }: HourRead): readonly string[] {
  const { from, parts } = plan;
  const { visible, file } = parts;
  const keep = visible.keepFrom(from);
  const hourAt = hourAtText('ts');
  const conditions: string[] = [];
  if (keep !== undefined) {
    const last = hourOf(visible.latestKeepFrom()) + hourMs;
    conditions.push(` and ts < ${int64(last)} and ${hourAt} < ${keep}`);
  }
  if (others.ends.size > 0) {
    const kept = keep === undefined ? '' : ` and ${hourAt} >= ${keep}`;
    conditions.push(
      ` and journal != ${file.state.journal} and position >= ${endText(others)} and ts >= ${int64(others.restFrom)} and ${isPunctualText}${kept}`,
    );
  }
  return conditions;
}

// Hour aggregates: what ClickHouse computes of hours for each facet, and the same of a partial in memory.

interface HourAggregate extends Aggregate<Tally> {
  /** The row that ClickHouse would make of the partial. */
  readonly rowOf: (partial: HourPartial, hourAt: EpochMs) => AggregateRow;
}

type Columns = {
  readonly columns: string;
  readonly groupBy: string;
  /** Members of the row, without its place. */
  readonly values: (partial: HourPartial, hourAt: EpochMs) => object;
};

const at = (partial: HourPartial, index: number): number => partial[index] ?? 0;
const first = '(firstTs, firstStoredAt, journal, firstPosition, firstIdx)';
const last = '(lastTs, lastStoredAt, journal, lastPosition, lastIdx)';

const ofFacets = new Map<unknown, Columns>([
  [count, { columns: '1', groupBy: '', values: () => ({}) }],
  [
    numbers,
    {
      columns:
        'sum(numericCount) as numeric, sumKahan(numSum) as total, sum(numAmounts) as amounts, minIf(numMin, numericCount > 0) as lowest, maxIf(numMax, numericCount > 0) as highest',
      groupBy: '',
      values: (partial) => ({
        numeric: at(partial, field.numeric),
        total: at(partial, field.sum) + at(partial, field.sumError),
        amounts: at(partial, field.amounts),
        lowest: at(partial, field.min),
        highest: at(partial, field.max),
      }),
    },
  ],
  [
    ends,
    {
      columns: `min(firstTs) as firstAt, max(lastTs) as lastAt, argMin(firstNum, ${first}) as earliest, argMax(lastNum, ${last}) as latest, argMin(firstStoredAt, ${first}) as earliestStored, argMax(lastStoredAt, ${last}) as latestStored`,
      groupBy: '',
      values: (partial) => ({
        firstAt: at(partial, field.firstAt),
        lastAt: at(partial, field.lastAt),
        earliest: at(partial, field.first),
        latest: at(partial, field.last),
        earliestStored: at(partial, field.firstStoredAt) + afterHours,
        latestStored: at(partial, field.lastStoredAt) + afterHours,
      }),
    },
  ],
  [
    truths,
    {
      columns: 'sum(trueCount) as trues, sum(falseCount) as falses',
      groupBy: '',
      values: (partial) => ({
        trues: at(partial, field.trues),
        falses: at(partial, field.falses),
      }),
    },
  ],
  [
    occupied,
    {
      columns: `intDiv(hourAt, ${hourMs}) as hour, sum(numericCount) as numeric, groupBitOr(occupiedSlots) as slots`,
      groupBy: ', hour',
      values: (partial, hourAt) => ({
        hour: hourAt / hourMs,
        numeric: at(partial, field.numeric),
        slots: at(partial, field.slots),
      }),
    },
  ],
]);

/** Undefined for a facet that needs the values. */
function hourAggregateOf(facet: Facet<Tally>): HourAggregate | undefined {
  const ofPoints = aggregateOf(facet);
  const columns = ofFacets.get(facet);
  if (ofPoints === undefined || columns === undefined) return undefined;
  const { values, ...rest } = columns;
  return {
    ...ofPoints,
    ...rest,
    rowOf: (partial, hourAt) => ({
      device: '',
      cell: 0,
      opaque: 0,
      n: at(partial, field.values),
      ...values(partial, hourAt),
    }),
  };
}

// Ordered values in ClickHouse: rows below the shipped position merged with open ones, with the last values before and the first behind.

type StoredRow = PlacedRow & { readonly data: string };

const rowColumns = 'ts, storedAt, journal, position, idx, data';

/** See the port's `values`. */
export async function* orderedValues(
  request: ValuesRequest,
  store: StoreParts,
): AsyncGenerator<ValueBatch> {
  const { deviceId, topic, keys, from, to } = request;
  const topics = [topic];
  const asked = {
    deviceIds: [deviceId],
    topics,
    from: request.before ? undefined : from,
    to: request.after ? undefined : to,
  };
  const parts = await readPartsOf(store, asked);
  const placesIn = (begin: EpochMs, end: EpochMs): Places => ({
    open: openPlacesIn(deviceId, { topics, from: begin, to: end }, parts),
    where: whereOf(request, parts, begin, end),
  });
  // Open rows and where ClickHouse ends, of one moment: rows may be shipped while this reads.
  const inside = placesIn(from, to);
  const [earlier, later] = [placesIn(-Infinity, from), placesIn(to, Infinity)];
  const shapes = new ShapeInterner();
  const batches = new ValueBatches(keys);
  function* add(samples: readonly Sample[]): Generator<ValueBatch> {
    for (const run of runsOfSamples(samples, shapes)) yield* batches.add(run);
  }
  if (request.before) yield* add(await outermost(earlier, { ...request, ...lastOfAll }, parts));
  const after = request.after && (await outermost(later, { ...request, ...firstOfAll }, parts));
  for await (const samples of rowsInOrder(request, inside, parts)) yield* add(samples);
  if (after) yield* add(after);
  yield* batches.rest();
}

/** Partition by partition, so that the server never sorts the whole history of a device. */
async function* rowsInOrder(
  request: ValuesRequest,
  { open, where }: Places,
  parts: ReadParts,
): AsyncGenerator<readonly Sample[]> {
  let batch: Sample[] = [];
  let next = 0;
  for await (const rows of partitionsOf(where, request, parts, firstOfAll))
    for (const row of rows) {
      for (let place = open[next]; place && compareRows(place, row) < 0; place = open[++next])
        batch.push(sampleOfRow(place.row));
      batch.push(sampleOf(row, request));
      if (batch.length < batchRowsMax) continue;
      yield batch;
      batch = [];
    }
  for (const { row } of open.slice(next)) batch.push(sampleOfRow(row));
  yield batch;
}

async function* partitionsOf(
  where: string,
  { deviceId }: ValuesRequest,
  { shards }: ReadParts,
  { suffix, rowOrder }: Direction,
): AsyncGenerator<readonly StoredRow[]> {
  const shard = shardOf(deviceId, shards);
  const partitions = await shard.select<{ number: number }>(
    `select intDiv(ts, ${partitionMs}) as number from samples where ${where} group by number order by number${suffix}`,
  );
  for (const { number } of partitions)
    yield* shard.stream<StoredRow>(
      `select ${rowColumns} from samples where ${where} and intDiv(ts, ${partitionMs}) = ${number} order by ${rowOrder}`,
    );
}

/** What a read sees of a range of times. */
interface Places {
  /** In the order of reading. */
  readonly open: readonly OpenPlace[];
  /** The condition of the rows in ClickHouse. */
  readonly where: string;
}

function whereOf(
  { deviceId, topic }: ValuesRequest,
  { visible, others }: ReadParts,
  from: EpochMs,
  to: EpochMs,
): string {
  const visibility = visible.condition([deviceId], from, others.shipped);
  return `device = ${quoted(deviceId)} and topic = ${quoted(topic)} and ts >= ${int64(from)} and ts < ${int64(to)}${visibility}`;
}

function sampleOf({ ts, data }: StoredRow, { deviceId, topic }: ValuesRequest): Sample {
  return { deviceId, topic, timestamp: ts, data: JSON.parse(data) as JsonObject };
}

/** In which order rows are read, and which of them is the outermost: the one with the largest time times `sign`. */
interface Direction {
  readonly sign: 1 | -1;
  readonly outermostTime: 'max' | 'min';
  readonly suffix: string;
  readonly rowOrder: string;
}

const firstOfAll: Direction = { sign: -1, outermostTime: 'min', suffix: '', rowOrder: oldestFirst };
const lastOfAll: Direction = {
  sign: 1,
  outermostTime: 'max',
  suffix: ' desc',
  rowOrder: newestFirst,
};

type Outer = ValuesRequest & Direction;

interface Candidate extends PlacedRow {
  readonly sample: Sample;
}

/** The rows of the outermost value of each key, those of one instant that were stored last, in the order of time. */
async function outermost(
  { open, where }: Places,
  outer: Outer,
  parts: ReadParts,
): Promise<readonly Sample[]> {
  const { keys, sign, numeric = false } = outer;
  const best = new Map<string, Candidate>();
  const isFurther = (row: PlacedRow, known: PlacedRow): boolean => {
    if (row.ts === known.ts) return compareRows(row, known) > 0;
    return sign * (row.ts - known.ts) > 0;
  };
  function offer(row: PlacedRow, sample: Sample): void {
    for (const key of keys) {
      const known = best.get(key);
      if (!isValue(dataValue(sample.data, key), numeric)) continue;
      if (known === undefined || isFurther(row, known)) best.set(key, { ...row, sample });
    }
  }
  for (const place of open) offer(place, sampleOfRow(place.row));
  const instants = await instantsOf(where, outer, parts);
  const among = instants && ` and ts in (${instants.join(',')})`;
  const isNone = instants?.length === 0;
  const stored = isNone ? [] : partitionsOf(`${where}${among ?? ''}`, outer, parts, outer);
  for await (const rows of stored) {
    for (const row of rows) offer(row, sampleOf(row, outer));
    // What follows lies further away.
    const end = rows.at(-1);
    const isDone = ({ ts }: Candidate): boolean => end !== undefined && sign * (ts - end.ts) > 0;
    if (best.size === keys.length && [...best.values()].every(isDone)) break;
  }
  const rows = new Map([...best.values()].map((row) => [placeName(row), row]));
  return [...rows.values()].sort(compareRows).map(({ sample }) => sample);
}

function placeName({ ts, storedAt, journal, position, idx }: PlacedRow): string {
  return `${ts} ${storedAt} ${journal} ${position} ${idx}`;
}

/** When the outermost values were measured, by their points; undefined where points do not tell. */
async function instantsOf(
  where: string,
  { deviceId, keys, outermostTime, numeric = false }: Outer,
  { shards }: ReadParts,
): Promise<readonly string[] | undefined> {
  if (keys.some(mayNameElement)) return undefined;
  const names = ['', ...keys.map((key) => JSON.stringify(key))];
  const { number, boolean, opaque } = pointKinds;
  const ofKinds = numeric && ` and kind in (${number},${boolean},${opaque})`;
  const rows = await shardOf(deviceId, shards).select<{ key: string; at: EpochMs }>(
    `select key, ${outermostTime}(ts) as at from points where ${where} and key in (${names.map(quoted).join(',')})${ofKinds || ''} group by key`,
  );
  return rows.some(({ key }) => key === '') ? undefined : rows.map(({ at }) => int64(at));
}
