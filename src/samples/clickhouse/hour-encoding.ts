// Hour encoding: partials as rows of the table of hours, one for each key, hour and origin of a device.
import { RowBinary } from '../../clickhouse/row-binary.ts';
import { partitionOf } from '../../model/device-partition.ts';
import type { EpochMs } from '../../model/instant.ts';
import {
  field,
  type HourGroup,
  type HourPartials,
  mergePartials,
  type HourPartial,
} from './hour-partials.ts';

export interface HourRow {
  readonly deviceId: string;
  readonly topic: string;
  /** As in the table of points. */
  readonly key: string;
  readonly hourAt: EpochMs;
  /** Of the first entry that it contains. */
  readonly position: number;
  readonly workspaceId: string;
  readonly dataFlowId: string | null;
  readonly partial: HourPartial;
}

/** `perEntry` as for the partials. */
export function hourRowsOf(
  partials: HourPartials,
  deviceId: string,
  perEntry: boolean,
): readonly HourRow[] {
  const groups = partials.groupsOf(deviceId);
  const rows = groups.flatMap((group) => rowsOfGroup(partials, deviceId, group));
  if (groups.length < 2) return rows;
  // Shapes may have keys in common.
  const merged = new Map<string, HourRow>();
  for (const row of rows) {
    const name = perEntry ? `${row.position} ${hourRowName(row)}` : hourRowName(row);
    const known = merged.get(name);
    if (known === undefined) merged.set(name, { ...row, partial: row.partial.slice() });
    else mergePartials(known.partial, row.partial);
  }
  return [...merged.values()];
}

function rowsOfGroup(partials: HourPartials, deviceId: string, group: HourGroup): HourRow[] {
  const { topic, hourAt, position, workspaceId, dataFlowId, points } = group;
  return points.map(({ key }, i) => ({
    ...{ deviceId, topic, key, hourAt, position, workspaceId, dataFlowId },
    partial: partials.partialOf(group, i),
  }));
}

/** What a row is known by within its block or entry. */
function hourRowName(row: HourRow): string {
  const { deviceId, topic, key, hourAt, workspaceId, dataFlowId } = row;
  return JSON.stringify([deviceId, topic, key, hourAt, workspaceId, dataFlowId ?? '']);
}

export interface HoursOrigin {
  readonly journal: number;
  /** Whether the rows are of entries that were late, instead of a whole block. */
  readonly late: boolean;
}

export function encodeHours(rows: readonly HourRow[], { journal, late }: HoursOrigin): RowBinary {
  const to = new RowBinary();
  for (const row of rows) {
    to.uint16(partitionOf(row.deviceId));
    to.string(row.deviceId);
    to.string(row.topic);
    to.string(row.key);
    to.int64(row.hourAt);
    to.uint32(journal);
    to.int64(row.position);
    to.uint8(late ? 1 : 0);
    to.string(row.workspaceId);
    to.string(row.dataFlowId ?? '');
    addPartial(to, row.partial);
    to.endRow();
  }
  return to;
}

function addPartial(to: RowBinary, partial: HourPartial): void {
  const at = (index: number): number => partial[index] ?? 0;
  const hasNumbers = at(field.numeric) > 0;
  to.int64(at(field.values));
  to.int64(at(field.numeric));
  to.float64(at(field.sum) + at(field.sumError));
  to.float64(at(field.amounts));
  // Zeros pack better than infinities.
  to.float64(hasNumbers ? at(field.min) : 0);
  to.float64(hasNumbers ? at(field.max) : 0);
  for (const end of [field.firstAt, field.lastAt]) {
    to.int64(at(end));
    to.float64(at(end + 1));
    to.int64(at(end + 2));
    to.int64(at(end + 3));
    to.uint32(at(end + 4));
  }
  to.int64(at(field.trues));
  to.int64(at(field.falses));
  to.uint16(at(field.slots));
}
