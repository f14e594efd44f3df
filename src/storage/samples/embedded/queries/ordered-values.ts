// Ordered values of a device: chunks that do not overlap as they are, others merged, with the last values before and the first behind.
import type { EpochMs } from '../../../../model/instant.ts';
import type { ValueBatch } from '../../../../query/summaries/ordered-values.ts';
import { refuseUnreadable } from '../../reported-reads.ts';
import type { SampleRange, ValuesRequest } from '../../sample-store.ts';
import {
  batchRowsMax,
  columnsOfShapes,
  hasValue,
  type KeyColumns,
  ValueBatches,
} from '../../value-batches.ts';
import type { TopicGroup } from '../memtables/shape-tables.ts';
import { placeOf, type Rows, type SortedRows } from '../rows/rows.ts';
import { unreadableSamples } from '../rows/series.ts';
import type { LostSegments } from '../segments/manifest.ts';
import type { Slices } from './bucket-query.ts';
import { guarded } from '../rows/removals.ts';
import { readColumn, readColumns, type RowReader, RowWalk } from './row-scan.ts';

/** Rows are passed on for so long before others get their turn. */
const sliceMs = 8;

interface Sources {
  readonly reader: RowReader;
  readonly lost: LostSegments;
  readonly slices: Slices;
}

/** See the port's `values`. */
export async function* orderedValues(
  request: ValuesRequest,
  { reader, lost, slices }: Sources,
): AsyncGenerator<ValueBatch> {
  const { deviceId, topic, keys, from, to } = request;
  const range: SampleRange = { deviceId, topic, from, to };
  const decode = (rows: Rows) => readKeys(rows, keys);
  // Taken in one turn: rows that are sealed later would be missed or found twice.
  const walk = new RowWalk({ ...range, direction: 'oldest', reader, build: (sample) => sample });
  const earlier = { ...request, first: -Infinity, end: from, sign: 1 } as const;
  const later = { ...request, first: to, end: Infinity, sign: -1 } as const;
  const groupsOf = (outer: Outer, isWanted: boolean): TopicGroup[] => {
    if (!isWanted) return [];
    return reader.groupsBetween(topic, outer.first, outer.end);
  };
  const [groupsBefore, groupsAfter] = [
    groupsOf(earlier, request.before),
    groupsOf(later, request.after),
  ];
  const before = await outermost(groupsBefore, earlier, slices);
  const after = await outermost(groupsAfter, later, slices);
  // Values that are lost may have been nearer.
  const reported = { ...range, unreadable: refuseUnreadable };
  lost.report(reported);
  if (request.before) lost.report({ ...reported, from: before[0]?.at ?? -Infinity, to: from });
  if (request.after) lost.report({ ...reported, from: to, to: after.at(-1)?.at ?? Infinity });
  const batches = new ValueBatches(keys);
  for (const { sorted, place } of before)
    yield* batches.add({ sorted, from: place, to: place + 1 });
  let sliceEnds = slices.clock() + sliceMs;
  const rowsMax = () => batchRowsMax;
  for (let run = walk.nextRunOf(decode, rowsMax); run; run = walk.nextRunOf(decode, rowsMax)) {
    yield* batches.add(run);
    if (slices.clock() < sliceEnds) continue;
    // What the rows of memory give may change meanwhile.
    yield* batches.rest();
    await slices.pause();
    sliceEnds = slices.clock() + sliceMs;
  }
  for (const { sorted, place } of after) yield* batches.add({ sorted, from: place, to: place + 1 });
  yield* batches.rest();
}

/** Decodes the columns of the keys. */
function readKeys(rows: Rows, keys: readonly string[]): void {
  void rows.shapeIds;
  for (const key of keys) {
    const found = columnsOfShapes(rows.shapes, rows.shapeColumns, key);
    if (found === undefined) {
      readColumns(rows);
      return;
    }
    for (const { column } of found) {
      const read = rows.columns[column];
      if (read !== undefined) readColumn(read);
    }
  }
}

interface Outermost {
  readonly at: EpochMs;
  readonly order: number;
  readonly sorted: SortedRows;
  readonly place: number;
}

interface Outer extends ValuesRequest {
  /** The range of times that is looked into. */
  readonly first: EpochMs;
  readonly end: EpochMs;
  /** 1 when the last value of the range is wanted, -1 for the first. */
  readonly sign: 1 | -1;
}

/** The rows of the outermost value of each key, those of one instant that were stored last, in the order of time. */
async function outermost(
  groups: TopicGroup[],
  outer: Outer,
  slices: Slices,
): Promise<readonly Outermost[]> {
  const { keys, sign } = outer;
  const edgeOf = ({ group }: TopicGroup): EpochMs => (sign > 0 ? group.newest : group.oldest);
  groups.sort((a, b) => sign * (edgeOf(b) - edgeOf(a)));
  const best = new Map<string, Outermost>();
  let sliceEnds = slices.clock() + sliceMs;
  for (const found of groups) {
    const edge = edgeOf(found);
    const open = keys.filter((key) => {
      const known = best.get(key);
      return known === undefined || sign * (known.at - edge) <= 0;
    });
    if (open.length === 0) break;
    lookInto(found, open, outer, best);
    if (slices.clock() < sliceEnds) continue;
    await slices.pause();
    sliceEnds = slices.clock() + sliceMs;
  }
  const rows = new Map<string, Outermost>();
  for (const row of best.values()) rows.set(`${row.at} ${row.order}`, row);
  return [...rows.values()].sort((a, b) => a.at - b.at || a.order - b.order);
}

/** Throws Problem `samplesDamaged` when the group cannot be read. */
function lookInto(
  { topic, group }: TopicGroup,
  keys: readonly string[],
  outer: Outer,
  best: Map<string, Outermost>,
): void {
  const sorted = group.sorted();
  const isRead =
    sorted !== undefined &&
    guarded(group, () => {
      readKeys(sorted.rows, keys);
      const low = placeOf(sorted, Math.max(group.visibleFrom, outer.first));
      const high = placeOf(sorted, outer.end);
      for (const key of keys) {
        const row = outermostIn(sorted, key, outer, low, high);
        const known = best.get(key);
        if (row !== undefined && (known === undefined || isFurther(row, known, outer)))
          best.set(key, row);
      }
      return true;
    });
  if (isRead !== true) refuseUnreadable(unreadableSamples(outer.deviceId, topic, group));
}

function isFurther(row: Outermost, known: Outermost, { sign }: Outer): boolean {
  if (row.at === known.at) return row.order > known.order;
  return sign * (row.at - known.at) > 0;
}

function outermostIn(
  sorted: SortedRows,
  key: string,
  { sign, numeric = false }: Outer,
  low: number,
  high: number,
): Outermost | undefined {
  const { rows, timestamps, orders } = sorted;
  const found: KeyColumns = columnsOfShapes(rows.shapes, rows.shapeColumns, key);
  if (found?.length === 0) return undefined;
  const isIn = (place: number): boolean => hasValue(sorted, found, place, { key, numeric });
  let place = sign > 0 ? high - 1 : low;
  while (place >= low && place < high && !isIn(place)) place -= sign;
  if (place < low || place >= high) return undefined;
  const at = timestamps[place]!;
  // Of one instant the last stored counts.
  for (let next = place + 1; next < high && timestamps[next] === at; next++)
    if (isIn(next)) place = next;
  return { at, order: orders[place]!, sorted, place };
}
