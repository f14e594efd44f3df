// Table run: a run that counts, and how many of its rows do: those of deleted devices do not.
import type { RunReader } from '../runs/run-reader.ts';
import { Slice } from '../runs/slice-rows.ts';

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
