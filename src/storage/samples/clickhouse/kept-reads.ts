// Kept reads: the rows and buckets that a read needs, when this node has all of them in memory, and how they are loaded.
import type { EpochMs } from '../../../model/instant.ts';
import { missing } from '../../../structures/missing.ts';
import type { SampleScan } from '../sample-store.ts';
import type { BucketPlan, Tallies } from './bucket-plan.ts';
import type { LoadedRows, LoadRequest, LoadRows, WantedRows } from './kept-rows.ts';
import { type OpenPlace, placeOf } from './open-rows.ts';
import { openPlacesIn, type ReadParts } from './store-parts.ts';
import type { VisibleRows } from './visible-rows.ts';
import type { Shard } from '../../clickhouse/replica.ts';
import { compareRows, newestFirst, sealedColumns, type SealedRow } from './sample-tables.ts';
import { int64, quoted } from '../../clickhouse/statement-values.ts';
import { LeafValues, type ShapeInterner } from '../../log/data-shape.ts';
import type { JsonObject } from '../../../model/json.ts';
import { shardOf } from './flusher.ts';

interface TopicRange {
  readonly topic: string;
  readonly from: EpochMs;
  readonly to: EpochMs;
}

/** With more devices, one statement for all of them is quicker. */
const devicesMax = 8;

/**
 * The visible rows of each device in the range, those of one device in the order of reading, but
 * open ones last. Undefined when ClickHouse must be asked. Belongs to this turn.
 */
function placesInMemory(
  deviceIds: readonly string[],
  range: TopicRange,
  parts: ReadParts,
): ReadonlyMap<string, readonly OpenPlace[]> | undefined {
  if (deviceIds.length > devicesMax || !isAllHere(parts)) return undefined;
  const found = new Map<string, readonly OpenPlace[]>();
  for (const deviceId of deviceIds) {
    const kept = parts.kept.of(deviceId);
    if (kept === undefined || kept.from > range.from)
      missed(deviceId, { ...range, rows: 0 }, parts);
    else found.set(deviceId, placesOf(deviceId, kept.places, range, parts));
  }
  return found.size === deviceIds.length ? found : undefined;
}

/** The rows of a scan; undefined when ClickHouse must be asked. Belongs to this turn. */
export function scanInMemory(scan: SampleScan, parts: ReadParts): OpenPlace[] | undefined {
  if (!isAllHere(parts)) return undefined;
  const { deviceId, from = Number.NEGATIVE_INFINITY, to = Infinity, limit, skip } = scan;
  const rows = skip + limit;
  const kept = parts.kept.of(deviceId);
  const places = newestOf(kept?.places ?? none, { ...scan, from, to, rows }, parts);
  if (kept === undefined || (places.length < rows && kept.from > from)) {
    missed(deviceId, { from: scan.from, rows }, parts);
    return undefined;
  }
  const { topic } = scan;
  const topics = topic === undefined ? undefined : [topic];
  const open = openPlacesIn(deviceId, { topics, from, to }, parts);
  return [...places, ...open].sort((a, b) => compareRows(b, a)).slice(skip, rows);
}

/** Other nodes may have rows, and removals, that are not known here. */
function isAllHere({ others }: ReadParts): boolean {
  return others.shipped.size === 0;
}

function missed(deviceId: string, wanted: WantedRows, { kept }: ReadParts): void {
  kept.missed(deviceId, { from: wanted.from, rows: wanted.rows });
}

function placesOf(
  deviceId: string,
  places: readonly OpenPlace[],
  { topic, from, to }: TopicRange,
  parts: ReadParts,
): readonly OpenPlace[] {
  const { visible } = parts;
  const hasRules = visible.hasRules();
  const found: OpenPlace[] = [];
  for (let at = firstFrom(places, from); at < places.length; at++) {
    const place = placeAt(places, at);
    if (place.ts >= to) break;
    const isWanted = place.row.topic === topic && (!hasRules || visible.isKept(place.row));
    if (isWanted) found.push(place);
  }
  found.push(...openPlacesIn(deviceId, { topics: [topic], from, to }, parts));
  return found;
}

function newestOf(
  places: readonly OpenPlace[],
  {
    topic,
    from,
    to,
    rows,
  }: {
    readonly topic?: string;
    readonly from: EpochMs;
    readonly to: EpochMs;
    readonly rows: number;
  },
  { visible }: ReadParts,
): OpenPlace[] {
  const found: OpenPlace[] = [];
  for (let at = firstFrom(places, to) - 1; at >= 0 && found.length < rows; at--) {
    const place = placeAt(places, at);
    if (place.ts < from) break;
    const isOfTopic = topic === undefined || place.row.topic === topic;
    if (isOfTopic && visible.isKept(place.row)) found.push(place);
  }
  return found;
}

/** Index of the first row that is not before the time. */
function firstFrom(places: readonly OpenPlace[], time: EpochMs): number {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (placeAt(places, middle).ts < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

const placeAt = (places: readonly OpenPlace[], at: number): OpenPlace =>
  places[at] ?? missing('kept row');

const none: readonly never[] = [];

// Kept tallies: buckets of devices whose rows are all in memory.

/** By device. Undefined when ClickHouse must be asked. Belongs to this turn. */
export function talliesInMemory(plan: BucketPlan): Map<string, Tallies> | undefined {
  const places = placesInMemory(plan.deviceIds, plan, plan.parts);
  if (places === undefined) return undefined;
  const found = new Map<string, Tallies>();
  for (const [deviceId, rows] of places) plan.addOpenRows(plan.talliesOf(found, deviceId), rows);
  return found;
}

// Kept load: reads the newest rows of a device from ClickHouse, as rows that are merged with open ones.

interface StoredRow extends SealedRow {
  readonly workspace: string;
  /** Empty without one. */
  readonly flow: string;
}

export function loadBy(
  shards: readonly Shard[],
  visible: VisibleRows,
  shapes: ShapeInterner,
): LoadRows {
  return (request) => {
    const { deviceId, from, rowsMax } = request;
    const after = from === undefined ? '' : ` and ts >= ${int64(from)}`;
    const where = `device = ${quoted(deviceId)}${after}${visible.storedCondition([deviceId])}`;
    // The times are read first, so that the data of older rows is not read.
    const newest = `select min(ts) from (select ts from samples where ${where} order by ts desc limit ${rowsMax + 1})`;
    const rows = shardOf(deviceId, shards).stream<StoredRow>(
      `select ${sealedColumns}, workspace, flow from samples where ${where} and ts >= (${newest}) order by ${newestFirst} limit ${rowsMax + 1}`,
    );
    return read(rows, request, shapes);
  };
}

/** Between two batches, others have their turn. */
async function read(
  batches: AsyncIterable<readonly StoredRow[]>,
  { rowsMax, charactersMax }: LoadRequest,
  shapes: ShapeInterner,
): Promise<LoadedRows> {
  const places: OpenPlace[] = [];
  const values = new LeafValues();
  let characters = 0;
  let isCut = false;
  for await (const rows of batches) {
    for (const row of rows) {
      isCut = places.length >= rowsMax || characters > charactersMax;
      if (isCut) break;
      characters += row.data.length + row.meta.length;
      places.push(placeOfStored(row, values, shapes));
    }
    if (isCut) break;
  }
  return { places: places.reverse(), characters, isCut };
}

function placeOfStored(row: StoredRow, values: LeafValues, shapes: ShapeInterner): OpenPlace {
  const { device, topic, ts, storedAt, journal, position, idx, data, meta, workspace, flow } = row;
  const valuesAt = values.length;
  const shape = shapes.shapeOf(JSON.parse(data) as JsonObject, values, undefined);
  const open = {
    deviceId: device,
    topic,
    timestamp: ts,
    storedAt,
    position,
    index: idx,
    workspaceId: workspace,
    dataFlowId: flow === '' ? null : flow,
    meta: meta === '' ? undefined : (JSON.parse(meta) as JsonObject),
    shape,
    values,
    valuesAt,
  };
  return placeOf(open, journal);
}
