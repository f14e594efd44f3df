// Shape tables: where the rows of sparse devices are: for each shape and topic one memtable for new rows, those being sealed, and runs.
import type { DataShape } from '../../../log/data-shape.ts';
import type { EpochMs } from '../../../model/instant.ts';
import type { JsonObject } from '../../../model/json.ts';
import { dataAt, placeOf, type RowGroup, rowAt } from '../rows/rows.ts';
import { sameData } from '../../same-data.ts';
import type { RunReader } from '../runs/run-reader.ts';
import type { DeviceNumbers } from './device-numbers.ts';
import { Memtable, type NewRow } from './memtable.ts';

export interface TableLimits {
  /** Shapes and topics with a memtable at the same time; rows of further ones go to the series of their device. */
  readonly memtablesMax: number;
  /** A memtable with this many rows is sealed. */
  readonly memtableRowsMax: number;
}

export interface TableRun {
  readonly reader: RunReader;
  readonly level: number;
  readonly bytes: number;
}

export interface ShapeTable {
  readonly shape: DataShape;
  readonly topic: string;
  /** Takes new rows; undefined when there were none since the last was closed. */
  active: Memtable | undefined;
  /** Closed memtables that are not in a run yet, the oldest first. */
  readonly sealing: Memtable[];
  /** The oldest first: rows of one instant are in the order of their runs. */
  runs: TableRun[];
  /** Every row of entries before this position of the journal is in a run or in a chunk. */
  sealedTo: number;
}

export interface TopicGroup {
  readonly topic: string;
  readonly group: RowGroup;
}

export interface ShapeTables {
  readonly all: () => Iterable<ShapeTable>;
  /** The table of the shape and topic, made when it does not exist. */
  readonly open: (shape: DataShape, topic: string) => ShapeTable;
  /** The table that takes new rows of the shape and topic; undefined when others have all memtables. */
  readonly forRows: (shape: DataShape, topic: string) => ShapeTable | undefined;
  /** Adds a row of a durable entry, whose position is given. */
  readonly add: (table: ShapeTable, row: NewRow, position: number) => void;
  /** Closes the memtable of the table: new rows get another. */
  readonly close: (table: ShapeTable) => void;
  /** The groups of the device that may have rows from `from` on and before `to`, of one topic or of all. Throws DamagedChunk. */
  readonly groupsOf: (
    deviceId: string,
    topic: string | undefined,
    times: readonly [from: EpochMs, to: EpochMs],
  ) => TopicGroup[];
  /** Whether a row with this time and data is stored. Throws DamagedChunk. */
  readonly has: (sample: {
    readonly deviceId: string;
    readonly topic: string;
    readonly timestamp: EpochMs;
    readonly data: JsonObject;
  }) => boolean;
  /** Position of the oldest entry with a row that is in no run. */
  readonly replayFrom: () => number;
  /** What all memtables take in memory. */
  readonly bytes: () => number;
}

export function createShapeTables(numbers: DeviceNumbers, limits: TableLimits): ShapeTables {
  const byTopic = new Map<string, Map<string, ShapeTable>>();
  let last: ShapeTable | undefined;
  let activeCount = 0;

  function* all(): Generator<ShapeTable> {
    for (const tables of byTopic.values()) yield* tables.values();
  }

  function open(shape: DataShape, topic: string): ShapeTable {
    if (last?.shape === shape && last.topic === topic) return last;
    let tables = byTopic.get(topic);
    if (tables === undefined) {
      tables = new Map();
      byTopic.set(topic, tables);
    }
    let table = tables.get(shape.text);
    if (table === undefined) {
      table = { shape, topic, active: undefined, sealing: [], runs: [], sealedTo: 0 };
      tables.set(shape.text, table);
    }
    last = table;
    return table;
  }

  function forRows(shape: DataShape, topic: string): ShapeTable | undefined {
    const known = byTopic.get(topic)?.get(shape.text);
    if (known?.active !== undefined) return known;
    if (activeCount >= limits.memtablesMax) return undefined;
    return open(shape, topic);
  }

  function close(table: ShapeTable): void {
    const { active } = table;
    if (active === undefined) return;
    table.active = undefined;
    activeCount--;
    if (active.length > 0) table.sealing.push(active);
  }

  function memtablesOf({ sealing, active }: ShapeTable): readonly Memtable[] {
    return active === undefined ? sealing : [...sealing, active];
  }

  function tablesOf(topic: string | undefined): Iterable<ShapeTable> {
    return topic === undefined ? all() : (byTopic.get(topic)?.values() ?? []);
  }

  function isIn(
    table: ShapeTable,
    device: number,
    sample: { readonly timestamp: EpochMs; readonly data: JsonObject },
  ): boolean {
    const { timestamp, data } = sample;
    for (const memtable of memtablesOf(table)) {
      const rows = memtable.rowsAt(device, timestamp);
      const columns = rows.length > 0 ? memtable.rows(rows) : undefined;
      for (const row of rows)
        if (columns !== undefined && sameData(dataAt(columns, row), data)) return true;
    }
    for (const { reader } of table.runs)
      for (const group of reader.groupsOf(device, timestamp, timestamp + 1))
        if (hasRow(group, timestamp, data)) return true;
    return false;
  }

  return {
    all,
    open,
    forRows,
    close,
    add: (table, row, position) => {
      // All rows of an entry are in one memtable: a start writes whole entries again.
      const { active } = table;
      if (active?.isFull === true && active.lastPosition !== position) close(table);
      if (table.active === undefined) {
        table.active = new Memtable(table.shape, table.topic, position, limits.memtableRowsMax);
        activeCount++;
      }
      table.active.add(row);
      table.active.lastPosition = position;
    },
    groupsOf: (deviceId, topic, [from, to]) => {
      const device = numbers.numberOf(deviceId);
      const found: TopicGroup[] = [];
      if (device === undefined) return found;
      for (const table of tablesOf(topic)) {
        for (const { reader } of table.runs)
          for (const group of reader.groupsOf(device, from, to))
            found.push({ topic: table.topic, group });
        for (const memtable of memtablesOf(table)) {
          const group = memtable.groupOf(device, from, to);
          if (group !== undefined) found.push({ topic: table.topic, group });
        }
      }
      return found;
    },
    has: ({ deviceId, topic, timestamp, data }) => {
      const device = numbers.numberOf(deviceId);
      if (device === undefined) return false;
      // Objects are the same whatever the order of their keys, so the row may be of another shape.
      for (const table of byTopic.get(topic)?.values() ?? []) {
        if (isIn(table, device, { timestamp, data })) return true;
      }
      return false;
    },
    replayFrom: () => {
      let oldest = Number.POSITIVE_INFINITY;
      for (const table of all())
        for (const { firstPosition } of memtablesOf(table))
          if (firstPosition < oldest) oldest = firstPosition;
      return oldest;
    },
    bytes: () => {
      let sum = 0;
      for (const table of all()) for (const { bytes } of memtablesOf(table)) sum += bytes;
      return sum;
    },
  };
}

function hasRow(group: RowGroup, timestamp: EpochMs, data: JsonObject): boolean {
  const sorted = group.sorted();
  if (sorted === undefined) return false;
  for (
    let place = placeOf(sorted, timestamp);
    place < sorted.length && sorted.timestamps[place] === timestamp;
    place++
  )
    if (sameData(dataAt(sorted.rows, rowAt(sorted, place)), data)) return true;
  return false;
}
