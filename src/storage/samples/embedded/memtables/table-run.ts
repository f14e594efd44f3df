// Table run: a run that counts, and how many of its rows do: those of deleted devices do not.
import type { LeveledRun } from '../runs/run-levels.ts';
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
