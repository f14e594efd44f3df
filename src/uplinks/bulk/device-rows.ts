// Device rows: samples in columns, arranged so that those of each device follow each other, and rows counted for followers.
import type { DurableRows } from '../../model/journal-entry.ts';
import { missing } from '../../structures/missing.ts';
import { isRefusal, type SampleRefusal } from '../../transports/http/backfill-sample.ts';
import type { SampleColumns } from '../../transports/http/sample-scanner.ts';
import type { BackfillDevice, FoundDevice } from './backfill-batches.ts';

/** The device of all samples, or for each one its device or why it is rejected. */
export type RowDevices = { readonly ofAll: BackfillDevice } | NamedRows;

/** Rows by the names of their devices. */
export interface NamedRows {
  /** For each name its device, or why its rows are rejected; undefined for other strings. */
  readonly found: readonly (FoundDevice | undefined)[];
  /** The name of each row, as its place in `found`. */
  readonly names: Float64Array;
}

export function deviceOfRow(devices: RowDevices, row: number): FoundDevice {
  if ('ofAll' in devices) return devices.ofAll;
  const { found, names } = devices;
  return found[names[row] ?? -1] ?? missing('device');
}

/** The rows that are rejected, and why. */
export function* refusalsOf(devices: RowDevices): Generator<readonly [number, SampleRefusal]> {
  if ('ofAll' in devices) return;
  const { found, names } = devices;
  if (!found.some((device) => device !== undefined && isRefusal(device))) return;
  for (const [row, name] of names.entries()) {
    const device = found[name];
    if (device !== undefined && isRefusal(device)) yield [row, device];
  }
}

export interface DeviceRows {
  readonly device: BackfillDevice;
  readonly from: number;
  readonly to: number;
  /** Whether each row is later than the one before. */
  readonly isAscending: boolean;
}

export interface RowsByDevice extends Pick<SampleColumns, 'timestamps' | 'columns'> {
  /** The devices in the order of their first samples. */
  readonly parts: readonly DeviceRows[];
  /** Which of the samples each row is; undefined when all are where they were. */
  readonly place: Uint32Array | undefined;
}

/** The samples of each device in the order sent; those without a device are skipped. */
export function rowsByDevice(samples: SampleColumns, devices: RowDevices): RowsByDevice {
  const { timestamps, columns, length } = samples;
  if ('ofAll' in devices) {
    const isAscending = isInOrder(timestamps, 0, length);
    const parts = [{ device: devices.ofAll, from: 0, to: length, isAscending }];
    return { timestamps, columns, parts, place: undefined };
  }
  const { numbers, first, counts } = numberedDevices(devices);
  const starts = startsOf(counts);
  const place = placesOf(numbers, starts);
  const arranged = place === undefined ? timestamps : picked(timestamps, place);
  return {
    timestamps: arranged,
    columns: place === undefined ? columns : columns.map((column) => picked(column, place)),
    parts: first.map((device, number) => {
      const from = starts[number]!;
      const to = starts[number + 1]!;
      return { device, from, to, isAscending: isInOrder(arranged, from, to) };
    }),
    place,
  };
}

const noDevice = -1;
const notNumbered = -2;

/** For each row the number of its device, which a service id and a physical id can both name. */
function numberedDevices({ found, names }: NamedRows) {
  const numbers = new Int32Array(names.length);
  const ofName = new Int32Array(found.length).fill(notNumbered);
  const known = new Map<string, number>();
  const first: BackfillDevice[] = [];
  const counts: number[] = [];
  for (let row = 0; row < names.length; row++) {
    const name = names[row]!;
    if (ofName[name] === notNumbered) ofName[name] = numberOf(found[name] ?? missing('device'));
    const number = ofName[name]!;
    numbers[row] = number;
    if (number !== noDevice) counts[number]!++;
  }
  return { numbers, first, counts };

  function numberOf(device: FoundDevice): number {
    if (isRefusal(device)) return noDevice;
    const before = known.get(device.id);
    if (before !== undefined) return before;
    known.set(device.id, first.length);
    counts.push(0);
    return first.push(device) - 1;
  }
}

function startsOf(counts: readonly number[]): Uint32Array {
  const starts = new Uint32Array(counts.length + 1);
  for (const [number, count] of counts.entries()) starts[number + 1] = starts[number]! + count;
  return starts;
}

/** For each place the row that belongs there; undefined when that is the row itself. */
function placesOf(numbers: Int32Array, starts: Uint32Array): Uint32Array | undefined {
  const next = starts.slice();
  const place = new Uint32Array(starts.at(-1) ?? 0);
  let isMoved = place.length !== numbers.length;
  for (let row = 0; row < numbers.length; row++) {
    const number = numbers[row]!;
    if (number === noDevice) continue;
    const at = next[number]!++;
    place[at] = row;
    if (at !== row) isMoved = true;
  }
  return isMoved ? place : undefined;
}

function picked(values: Float64Array, place: Uint32Array): Float64Array {
  const found = new Float64Array(place.length);
  for (let i = 0; i < place.length; i++) found[i] = values[place[i]!]!;
  return found;
}

function isInOrder(timestamps: Float64Array, from: number, to: number): boolean {
  for (let row = from + 1; row < to; row++)
    if (timestamps[row]! <= timestamps[row - 1]!) return false;
  return true;
}

// Counted rows: rows for a follower that needs their positions and number, without their samples and devices.

const nothing: readonly never[] = Object.freeze([]);

/** Each entry says that it has this number of samples. What the rows were read from is released. */
export function countedRows(
  { position, length, receivedAt, summary }: DurableRows,
  count: 0 | 1,
): DurableRows {
  const each = { ...summary, count };
  const empty = { deviceId: '', receivedAt, notes: nothing, samples: nothing, duplicates: 0 };
  return {
    position,
    length,
    receivedAt,
    summary,
    entryAt: (place) => ({ ...empty, summary: each, position: position + place }),
  };
}
