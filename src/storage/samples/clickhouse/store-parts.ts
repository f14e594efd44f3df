// Store parts: what the reads of the store on ClickHouse share.
import { ClickHouseError, type Shard } from '../../clickhouse/replica.ts';
import { LeafValues, type ShapeInterner } from '../../log/data-shape.ts';
import { problem, type Problem } from '../../../model/problem.ts';
import type { Elsewhere, OpenOfJournal, OpenRange, OpenSample } from '../remote-pending-samples.ts';
import type { Hours, OtherHoursReader } from './hours.ts';
import type { KeptRows } from './kept-rows.ts';
import { type OpenPlace, type OpenRow, type OpenRows, placeOf } from './open-rows.ts';
import type { StateFile } from './flusher.ts';
import type { VisibleRows } from './visible-rows.ts';
import { compareRows } from './sample-tables.ts';

export type ShippedTo = OpenOfJournal;

/**
 * Resolves when the replicas in use have what is before the positions. Throws `samplesUnreachable`
 * or `samplesBusy` (503).
 */
export type ReachShipped = (others: readonly ShippedTo[]) => Promise<void>;

export interface StoreParts {
  readonly shards: readonly Shard[];
  readonly openRows: OpenRows;
  readonly visible: VisibleRows;
  readonly file: StateFile;
  readonly shapes: ShapeInterner;
  readonly hours: Hours;
  readonly otherHours: OtherHoursReader;
  readonly kept: KeptRows;
  /** Undefined for the only node on these tables. */
  readonly elsewhere?: Elsewhere | undefined;
  readonly reachShipped: ReachShipped;
}

/** `samplesUnreachable` or `samplesBusy` (503) for what may succeed later; other errors as they are. */
export function samplesError(error: unknown): unknown {
  if (!(error instanceof ClickHouseError) || error.failure === 'refused') return error;
  const isBusy = error.failure === 'busy' || error.failure === 'timeout';
  const translated: Problem = problem(isBusy ? 'samplesBusy' : 'samplesUnreachable');
  return Object.assign(translated, { cause: error });
}

// Read parts: what one read merges: open rows of this node and of others, and the positions where ClickHouse ends.

/** Open rows of other nodes, of the moment in which each was asked. */
interface OtherOpenRows {
  /** By journal, the position before which all is in ClickHouse; what is behind is among the rows. */
  readonly shipped: ReadonlyMap<number, number>;
  /** In no order. */
  rowsOf(deviceId: string): readonly OpenPlace[];
}

export interface ReadParts extends StoreParts {
  readonly others: OtherOpenRows;
}

/**
 * Asks the other nodes. What the caller takes of `openRows` and `visible` belongs to the turn in
 * which it continues, and ClickHouse must be asked in the same turn or later. Rejects as
 * `ReadElsewhere` does.
 */
export async function readPartsOf(parts: StoreParts, range: OpenRange): Promise<ReadParts> {
  const found = (await parts.elsewhere?.read(range)) ?? none;
  if (found.length === 0) return { ...parts, others: noOthers };
  await parts.reachShipped(found);
  const wanted = new Set(range.deviceIds);
  const byDevice = new Map<string, OpenPlace[]>();
  for (const { journal, samples } of found)
    for (const sample of samples) {
      const { deviceId } = sample;
      if (!wanted.has(deviceId)) continue;
      const places = byDevice.get(deviceId) ?? [];
      byDevice.set(deviceId, places);
      places.push(placeOf(rowOfSample(sample, parts.shapes), journal));
    }
  const shipped = new Map(found.map((each: OpenOfJournal) => [each.journal, each.shipped]));
  const removed = found.flatMap((each) => each.removed);
  const others = { shipped, rowsOf: (deviceId: string) => byDevice.get(deviceId) ?? none };
  return { ...parts, visible: parts.visible.including(new Map(removed)), others };
}

/** Visible open rows of the device, in the order of reading. */
export function openPlacesIn(
  deviceId: string,
  { topics, from = -Infinity, to = Infinity }: Omit<OpenRange, 'deviceIds'>,
  { openRows, others, visible, file }: ReadParts,
): OpenPlace[] {
  const { journal } = file.state;
  const isWanted = ({ topic, timestamp }: OpenRow): boolean =>
    topics?.includes(topic) !== false && timestamp >= from && timestamp < to;
  const places: OpenPlace[] = [];
  for (const row of openRows.rowsOf(deviceId))
    if (isWanted(row) && visible.isVisible(row)) places.push(placeOf(row, journal));
  for (const place of others.rowsOf(deviceId))
    if (isWanted(place.row) && visible.isVisibleOf(place.row, place.journal)) places.push(place);
  return places.sort(compareRows);
}

function rowOfSample({ data, meta, ...rest }: OpenSample, shapes: ShapeInterner): OpenRow {
  const values = new LeafValues();
  return { ...rest, meta, shape: shapes.shapeOf(data, values, undefined), values, valuesAt: 0 };
}

const none: readonly never[] = [];
const noOthers: OtherOpenRows = { shipped: new Map(), rowsOf: () => none };
