// Shape table: all rows of one shape and topic, in memtables and runs that are merged by levels.
import { type DataShape, sameSampleData } from '../../../log/data-shape.ts';
import type { EpochMs } from '../../../../model/instant.ts';
import type { JsonObject } from '../../../../model/json.ts';
import { dataBefore } from '../../../../model/sample-changes.ts';
import type { ComparedSample } from '../../sample-store.ts';
import { guarded } from '../rows/removals.ts';
import {
  dataAt,
  metaAt,
  placeOf,
  rowAt,
  type RowGroup,
  type Rows,
  type RowToAdd,
} from '../rows/open-rows.ts';
import { type Memory, Memtable } from './memtable.ts';
import type { RunReader } from '../runs/run-reader.ts';
import { Slice } from '../runs/slice-rows.ts';

/** Memtables after the first begin with the size of the one before, this at most. */
const capacityMax = 1 << 20;

export interface TableName {
  readonly shape: DataShape;
  readonly topic: string;
}

/** Where a row that comes again after a crash is: in a file for sure, maybe, or in none. */
type Sealed = 'yes' | 'maybe' | 'no';

export class ShapeTable implements TableName {
  readonly shape: DataShape;
  readonly topic: string;
  /** The workspace that the table counts for. */
  readonly workspaceId: string;
  /** Takes new rows; undefined when there were none since the last was closed. */
  active: Memtable | undefined;
  /** Closed memtables that are not in a run yet, the oldest first. */
  readonly sealing: Memtable[] = [];
  runs: readonly TableRun[] = [];
  /** Every row of entries before this position of the journal is in a run or in a chunk. */
  sealedTo = Number.NEGATIVE_INFINITY;
  /** Rows of entries before this position may be in a run. */
  coveredTo = Number.NEGATIVE_INFINITY;
  #capacity: number | undefined;

  constructor({ shape, topic }: TableName, workspaceId: string) {
    this.shape = shape;
    this.topic = topic;
    this.workspaceId = workspaceId;
  }

  get isEmpty(): boolean {
    return this.active === undefined && this.sealing.length === 0 && this.runs.length === 0;
  }

  /** The oldest first. */
  memtables(): readonly Memtable[] {
    return this.active === undefined ? this.sealing : [...this.sealing, this.active];
  }

  newMemtable(position: number, rowsMax: number, memory?: Memory): Memtable {
    const { shape, topic } = this;
    const options = { shape, topic, rowsMax, ...(memory !== undefined && { memory }) };
    const capacity = this.#capacity;
    this.active = new Memtable(
      capacity === undefined ? options : { ...options, capacity },
      position,
    );
    return this.active;
  }

  /** New rows get another memtable. */
  close(): void {
    const { active } = this;
    if (active === undefined) return;
    this.active = undefined;
    this.#capacity = Math.min(active.length, capacityMax);
    if (active.length > 0) this.sealing.push(active);
  }

  addRun(run: TableRun): void {
    const { head } = run.reader.run.index;
    this.runs = [...this.runs, run];
    this.sealedTo = Math.max(this.sealedTo, head.sealedTo);
    this.coveredTo = Math.max(this.coveredTo, head.coveredTo);
  }

  /** The runs count no more; another takes their place. */
  exchange(runs: readonly TableRun[], by?: TableRun): void {
    // A run is another object when a device was deleted meanwhile; its reader is the same.
    const gone = new Set(runs.map(({ reader }) => reader));
    const first = this.runs.findIndex(({ reader }) => gone.has(reader));
    const left = this.runs.filter(({ reader }) => !gone.has(reader));
    this.runs = by === undefined ? left : left.toSpliced(first, 0, by);
  }

  /** False only when no row of the device is here. */
  mayHave(device: number): boolean {
    return (
      this.active?.has(device) === true ||
      this.sealing.some((memtable) => memtable.has(device)) ||
      this.runs.some(({ reader }) => reader.mayHave(device))
    );
  }

  isSealed(position: number): Sealed {
    if (position < this.sealedTo) return 'yes';
    return position < this.coveredTo ? 'maybe' : 'no';
  }

  /** The groups of the device that may have rows from `from` on and before `to`. */
  groupsOf(device: number, from: EpochMs, to: EpochMs): RowGroup[] {
    const found: RowGroup[] = [];
    for (const { reader } of this.runs) found.push(...reader.groupsOf(device, from, to));
    found.push(...this.unsealedGroupsOf(device, from, to));
    return found;
  }

  /** Those that are in no run. */
  unsealedGroupsOf(device: number, from: EpochMs, to: EpochMs): RowGroup[] {
    const found: RowGroup[] = [];
    for (const memtable of this.sealing) addGroup(found, memtable.groupOf(device, from, to));
    if (this.active !== undefined) addGroup(found, this.active.groupOf(device, from, to));
    return found;
  }

  /** Time of the newest row of the device; -Infinity without any. */
  newestOf(device: number): EpochMs {
    let newest = Number.NEGATIVE_INFINITY;
    for (const memtable of this.memtables()) newest = Math.max(newest, memtable.newestOf(device));
    for (const { reader } of this.runs) {
      if (reader.run.index.head.newest <= newest) continue;
      for (const group of reader.groupsOf(device, newest, Number.POSITIVE_INFINITY))
        newest = Math.max(newest, group.newest);
    }
    return newest;
  }

  /** Whether a run has that row of the device. */
  hasInRuns(device: number, { timestamp, order }: RowToAdd): boolean {
    return this.runs.some(({ reader }) =>
      reader
        .groupsOf(device, timestamp, timestamp + 1)
        .some((group) => group.sorted()?.orders.includes(order) === true),
    );
  }

  /** Whether a row with that time and data is here. `isGone` says of which places rows count no more. */
  hasData(
    device: number,
    timestamp: EpochMs,
    data: JsonObject,
    isGone?: (order: number) => boolean,
  ): boolean {
    for (const memtable of this.memtables()) {
      const rows = memtable.rowsAt(device, timestamp);
      const columns = rows.length > 0 ? memtable.rows(rows) : undefined;
      for (const row of rows)
        if (
          columns !== undefined &&
          isSame(columns, row, { topic: this.topic, timestamp, data }) &&
          isGone?.(columns.orders[row]!) !== true
        )
          return true;
    }
    for (const { reader } of this.runs)
      for (const group of reader.groupsOf(device, timestamp, timestamp + 1))
        if (groupHas(group, { topic: this.topic, timestamp, data }, isGone)) return true;
    return false;
  }
}

function addGroup(groups: RowGroup[], group: RowGroup | undefined): void {
  if (group !== undefined) groups.push(group);
}

/** Whether the row is the sample, or was it before a correction. */
function isSame(rows: Rows, row: number, { topic, timestamp, data }: ComparedSample): boolean {
  return (
    sameSampleData(dataAt(rows, row), data) ||
    dataBefore(metaAt(rows, row), topic, timestamp).some((before) => sameSampleData(before, data))
  );
}

function groupHas(
  group: RowGroup,
  sample: ComparedSample,
  isGone?: (order: number) => boolean,
): boolean {
  const { timestamp } = sample;
  const sorted = group.sorted();
  if (sorted === undefined) return false;
  for (
    let place = placeOf(sorted, timestamp);
    place < sorted.length && sorted.timestamps[place] === timestamp;
    place++
  ) {
    const row = rowAt(sorted, place);
    const isFound = (): boolean =>
      isSame(sorted.rows, row, sample) && isGone?.(sorted.orders[place]!) !== true;
    if (guarded(group, isFound) === true) return true;
  }
  return false;
}

// Table run: a run that counts, and how many of its rows do: those of deleted devices do not.

export class TableRun implements LeveledRun {
  readonly reader: RunReader;
  /** Rows that count, of each origin of the run. */
  readonly rows: readonly number[];

  constructor(reader: RunReader, rows: readonly number[]) {
    this.reader = reader;
    this.rows = rows;
  }

  get level(): number {
    return this.reader.run.index.head.level;
  }

  get bytes(): number {
    return this.reader.run.index.bytes;
  }

  get damaged(): boolean {
    return this.reader.isDamaged();
  }

  /** Rows that count. */
  get rowCount(): number {
    return this.rows.reduce((sum, rows) => sum + rows, 0);
  }

  /** Rows of each origin that count no more; undefined without any. */
  get deadRows(): readonly number[] | undefined {
    const { originRows } = this.reader.run.index.head;
    const dead = originRows.map((rows, origin) => rows - (this.rows[origin] ?? 0));
    return dead.some((rows) => rows > 0) ? dead : undefined;
  }

  /** The run when rows of these devices count no more. */
  without(devices: readonly number[]): TableRun {
    const rows = [...this.rows];
    for (const device of devices)
      for (const group of this.reader.groupsOf(device, -Infinity, Infinity)) {
        const counts =
          group instanceof Slice ? group.sealed.guarded(() => group.rowsByOrigin()) : undefined;
        for (const [origin, count] of counts?.entries() ?? [])
          rows[origin] = (rows[origin] ?? 0) - count;
      }
    return new TableRun(this.reader, rows);
  }
}

// Run levels: which runs are merged next, so that each row is written a few times only.

export interface LeveledRun {
  readonly level: number;
  readonly bytes: number;
  /** Some of it cannot be read: it stays as it is, so that nothing more is lost. */
  readonly damaged: boolean;
}

/**
 * The runs to merge, from the first on and before the second place; undefined when there are not enough. `runs` are those of one shape
 * and topic, the oldest first: neighbors are merged, so that runs keep to a stretch of time.
 */
export function runsToMerge(
  runs: readonly LeveledRun[],
  limits: {
    /** This many neighboring runs of one level become one of the next. */
    readonly runsToMerge: number;
    /** Runs are not merged to more than about this size. */
    readonly mergedRunBytesMax: number;
  },
): readonly [first: number, end: number] | undefined {
  for (let first = 0; first < runs.length; first++) {
    const { level } = runs[first]!;
    let bytes = 0;
    let end = first;
    for (; end < runs.length && end - first < limits.runsToMerge; end++) {
      const next = runs[end]!;
      const isLarge = bytes + next.bytes > limits.mergedRunBytesMax;
      if (next.level !== level || next.damaged || isLarge) break;
      bytes += next.bytes;
    }
    if (end - first === limits.runsToMerge) return [first, end];
  }
  return undefined;
}
