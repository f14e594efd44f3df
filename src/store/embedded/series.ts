// What the store knows in memory: devices, and for each topic its chunks, open rows, and samples that wait for their fsync.
import type { EpochMs } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import { OpenRows } from './open-rows.ts';
import { dataAt, type SortedRows } from './rows.ts';
import { sameData } from './same-data.ts';

/** Samples of one entry on their way through the journal. */
export interface PendingSamples {
  readonly samples: { readonly timestamp: EpochMs; readonly data: JsonObject }[];
  oldest: EpochMs;
  newest: EpochMs;
}

export interface Series {
  readonly device: Device;
  readonly topic: string;
  /** Undefined while there is no row that is not sealed. */
  open: OpenRows | undefined;
  /** Time of the newest visible sample; -Infinity without any. */
  newest: EpochMs;
  pending: PendingSamples[];
}

export interface Device {
  readonly id: string;
  readonly topics: Map<string, Series>;
  /** Rows of the device are numbered in the order of storing. */
  nextOrder: number;
}

export function newDevice(id: string): Device {
  return { id, topics: new Map(), nextOrder: 0 };
}

export function seriesOf(device: Device, topic: string): Series {
  let series = device.topics.get(topic);
  if (series === undefined) {
    series = { device, topic, open: undefined, newest: Number.NEGATIVE_INFINITY, pending: [] };
    device.topics.set(topic, series);
  }
  return series;
}

/** The open rows to append to, made when there are none; `position` is that of the entry whose row comes. */
export function openRowsOf(series: Series, position: number): OpenRows {
  series.open ??= new OpenRows(position);
  return series.open;
}

/** All visible rows of the series that may lie between the times, in groups that are each sorted. */
export function sortedRowsOf(series: Series, from: EpochMs, to: EpochMs): SortedRows[] {
  const { open } = series;
  if (open === undefined || open.length === 0 || open.newest < from || open.oldest >= to) return [];
  return [open.sorted()];
}

/** Whether the sample is one of those that wait. */
export function isAmong({ samples, oldest, newest }: PendingSamples, timestamp: EpochMs, data: JsonObject): boolean {
  if (timestamp < oldest || timestamp > newest) return false;
  return samples.some((sample) => sample.timestamp === timestamp && sameData(sample.data, data));
}

/** Whether the sample is stored or on its way to be: `stored`, `pending`, or neither. */
export function findDuplicate(series: Series, timestamp: EpochMs, data: JsonObject): 'stored' | 'pending' | undefined {
  for (const pending of series.pending) if (isAmong(pending, timestamp, data)) return 'pending';
  if (timestamp > series.newest) return undefined;
  const { open } = series;
  if (open?.rowsAt(timestamp).some((row) => sameData(dataAt(open, row), data)) === true) return 'stored';
  return undefined;
}
