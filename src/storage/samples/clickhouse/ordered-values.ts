// Ordered values in ClickHouse: rows below the shipped position merged with open ones, with the last values before and the first behind.
import { dataValue } from '../../../model/data-value.ts';
import type { EpochMs } from '../../../model/instant.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { Sample } from '../../../model/sample.ts';
import type { ValueBatch } from '../../../query/summaries/ordered-values.ts';
import { int64, quoted } from '../../clickhouse/statement-values.ts';
import { ShapeInterner } from '../../log/data-shape.ts';
import { batchRowsMax, isValue, runsOfSamples, ValueBatches } from '../value-batches.ts';
import type { ValuesRequest } from '../sample-store.ts';
import { mayNameElement } from './bucket-plan.ts';
import { shardOf } from './flusher.ts';
import { type OpenPlace, sampleOfRow } from './open-rows.ts';
import { openPlacesIn, type ReadParts, readPartsOf, type StoreParts } from './store-parts.ts';
import {
  compareRows,
  newestFirst,
  oldestFirst,
  partitionMs,
  type PlacedRow,
  pointKinds,
} from './sample-tables.ts';

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
  if (request.before) yield* add(await outermost(earlier, { ...request, ...last }, parts));
  const after = request.after && (await outermost(later, { ...request, ...first }, parts));
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
  for await (const rows of partitionsOf(where, request, parts, first))
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

const first: Direction = { sign: -1, outermostTime: 'min', suffix: '', rowOrder: oldestFirst };
const last: Direction = { sign: 1, outermostTime: 'max', suffix: ' desc', rowOrder: newestFirst };

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
