// Open row: a sample that is in the journal, and not known to be in ClickHouse yet, with its place in the order of storing.
import type { EpochMs } from '../../../model/instant.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { Sample } from '../../../model/sample.ts';
import { missing } from '../../../structures/missing.ts';
import { dataOf, type DataShape } from '../../log/data-shape.ts';
import { LeafValues } from '../../log/leaf-values.ts';
import {
  addValues,
  type LoggedEntry,
  type LoggedRows,
  type RowColumns,
} from '../../log/logged-entry.ts';
import type { PlacedRow } from './sealed-rows.ts';

export interface OpenRow {
  readonly deviceId: string;
  readonly topic: string;
  readonly timestamp: EpochMs;
  readonly storedAt: EpochMs;
  /** Of its entry. */
  readonly position: number;
  /** Among the rows of its entry. */
  readonly index: number;
  readonly workspaceId: string;
  readonly dataFlowId: string | null;
  readonly meta: JsonObject | undefined;
  readonly shape: DataShape;
  readonly values: LeafValues;
  readonly valuesAt: number;
}

export function dataOfRow({ shape, values, valuesAt }: OpenRow): JsonObject {
  return dataOf(shape, values.sourceFrom(valuesAt));
}

export function sampleOfRow(row: OpenRow): Sample {
  const { deviceId, topic, timestamp, meta } = row;
  const data = dataOfRow(row);
  return meta === undefined
    ? { deviceId, topic, timestamp, data }
    : { deviceId, topic, timestamp, data, meta };
}

/** The rows of the entry that queries may find. */
export function openRowsOf(entry: LoggedEntry): OpenRow[] {
  const { rows } = entry;
  return 'columns' in rows ? rowsOfColumns(entry, rows) : rowsOfList(entry, rows);
}

function rowsOfList(
  { deviceId, position, storedAt }: LoggedEntry,
  { samples, shapes, values, valuesAt: first = 0 }: LoggedRows,
): OpenRow[] {
  const rows: OpenRow[] = [];
  let valuesAt = first;
  for (const [index, head] of samples.entries()) {
    const { topic, timestamp, workspaceId, dataFlowId, stored, meta } = head;
    const shape = shapes[index] ?? missing('shape of a row');
    const origin = { workspaceId, dataFlowId, meta };
    const place = { deviceId, topic, timestamp, storedAt, position, index };
    if (stored) rows.push({ ...place, ...origin, shape, values, valuesAt });
    valuesAt += shape.leaves.length;
  }
  return rows;
}

function rowsOfColumns(
  { deviceId, position, storedAt }: LoggedEntry,
  columns: RowColumns,
): OpenRow[] {
  const { head, shape, timestamps, from, to } = columns;
  const { topic, workspaceId, dataFlowId, stored } = head;
  if (!stored) return [];
  const rows: OpenRow[] = [];
  const values = new LeafValues(shape.leaves.length * (to - from));
  for (let row = from; row < to; row++) {
    const valuesAt = values.length;
    addValues(columns, row, values);
    const timestamp = timestamps[row] ?? missing('time');
    const place = { deviceId, topic, timestamp, storedAt, position, index: row - from };
    rows.push({
      ...place,
      workspaceId,
      dataFlowId,
      meta: undefined,
      shape,
      values,
      valuesAt,
    });
  }
  return rows;
}

// Open place: an open or kept row with its place in the order of storing of all journals.

export interface OpenPlace extends PlacedRow {
  readonly row: OpenRow;
}

export function placeOf(row: OpenRow, journal: number): OpenPlace {
  const { timestamp: ts, storedAt, position, index: idx } = row;
  return { ts, storedAt, journal, position, idx, row };
}
